// Publishers, a device and subscribers in Python with ours: two independent implementations.
import { EmqpPubSub } from '@proj/broker';
import { EmqpClient } from '@proj/client';
import { expect, it } from 'vitest';
import { testPeers } from '../test-peers.js';
import { heard, known, messages, pythonSubscriber } from '../pubsub.js';
import { pythonPeer } from '../python.js';
import { transport } from '../../transport.js';

const { launch, keep } = testPeers();
const FREE = 'tcp://127.0.0.1:*';
const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex');

it('our device forwards what a Python publisher sends to Python subscribers: binary topics, and both message forms', async () => {
  const device = keep(new EmqpPubSub({ transport, publish: FREE, subscribe: FREE }));
  const { publish, subscribe } = await device.start();
  const publisher = launch(pythonPeer('emqp', 'publisher', { connect: publish[0] }));
  const [all, some] = [
    launch(pythonSubscriber(subscribe[0] ?? '')),
    launch(pythonSubscriber(subscribe[0] ?? '', '\0\xff')),
  ];
  await publisher.line('listening');
  const say = (topic: string, body: string, extra = {}) => {
    publisher.tell({ do: 'publish', topic: hex(topic), body: hex(body), ...extra });
  };
  for (const subscriber of [all, some])
    await known(() => say('\0\xff', 'knock'), subscriber.line('message', heard('\0\xff', 'knock')));
  say('news', '1');
  say('\0\xff\xfe', '2', { headers: 'guarantee' });
  say('', '3');
  say('\0\xff', 'end');
  for (const subscriber of [all, some]) await subscriber.line('message', heard('\0\xff', 'end'));

  const loud = (subscriber: typeof all) => messages(subscriber).filter((text) => !text.endsWith('knock'));
  expect(loud(all)).toEqual(['news|1', '\0\xff\xfe|2', '\0\xff|end']);
  expect(loud(some)).toEqual(['\0\xff\xfe|2', '\0\xff|end']);
  expect(device.stats().dropped).toEqual({ 'topic-empty': 1 });
});

it('our client publishes and subscribes at a Python device that requires peer names in ASCII', async () => {
  const device = launch(pythonPeer('emqp', 'device', {}));
  const { publish, subscribe } = await device.line('listening');
  const client = keep(
    new EmqpClient({ transport, publishEndpoint: String(publish), subscribeEndpoint: String(subscribe) }),
  );
  const subscription = client.subscribe('news.');
  const first = subscription.next();
  const knock = () => void client.publish('news.knock', '').catch(() => undefined);
  await known(knock, first);
  await client.publish('weather', 'rain');
  await client.publish('news.sport', 'two to one');
  for await (const { topic, body, missed } of subscription) {
    if (String(topic) === 'news.knock') continue;
    expect([String(topic), String(body), missed]).toEqual(['news.sport', 'two to one', 0]);
    break;
  }
});
