/** The device over libzmq: what only real sockets can show. */
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { VERSION } from '../../test/emqp/broker-under-test.js';
import { TextPeer } from '../../test/raw-peer.js';
import { RawSubscriber } from '../../test/raw-subscriber.js';
import { EmqpPubSub } from './pubsub.js';

// Peers of libzmq, while the facade under test uses the default transport.
beforeAll(() => zmqTransport().load());

const FREE = 'tcp://127.0.0.1:*';
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

it('rule 31: sends binary topics and a body of 1 MiB to their subscribers', async () => {
  const device = new EmqpPubSub({ publish: FREE, subscribe: FREE });
  const { publish, subscribe } = await device.start();
  const publisher = TextPeer.connect(zmqTransport(), publish[0] ?? '');
  const subscriber = RawSubscriber.connect(zmqTransport(), subscribe[0] ?? '', '\0\xff');
  open.push(device, publisher, subscriber);
  // When the first one arrives, the subscription is known.
  const knocking = setInterval(() => {
    publisher.send('', VERSION, 'PUBLISH', 'k', '\0\xff', 'knock');
  }, 5);
  await subscriber.until(() => subscriber.heard.length > 0);
  clearInterval(knocking);
  const body = `\xff\0${'x'.repeat(1 << 20)}`;
  publisher.send('', VERSION, 'PUBLISH', 'm', '\0', 'for nobody');
  publisher.send('', VERSION, 'PUBLISH', 'm', '\0\xff\0', 'headers', body);
  await subscriber.until(() => subscriber.heard.at(-1) !== '\0\xff|knock');

  expect(subscriber.heard.filter((text) => text !== '\0\xff|knock')).toEqual([`\0\xff\0|${body}`]);
});
