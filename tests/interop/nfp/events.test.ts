// The events of a Python worker that our broker publishes, as received by Python subscribers.
import { expect, it } from 'vitest';
import { testPeers } from '../test-peers.js';
import { heard, known, messages, pythonSubscriber } from '../pubsub.js';
import { stage } from './stage.js';

const theater = stage();
const { launch } = testPeers();

it('events reach subscribers of their service or of one job, besides the client that posted it', async () => {
  const { broker, endpoint } = await theater.broker({ publish: 'tcp://127.0.0.1:*' });
  const [events = ''] = broker.publishEndpoints;
  await theater.worker({ connect: endpoint, name: 'w1' });
  const asker = theater.client({ connect: endpoint });
  const [service, job] = [
    launch(pythonSubscriber(events, 'sample/')),
    launch(pythonSubscriber(events, 'sample/wanted')),
  ];
  // Each job has one event.
  let knocks = 0;
  const knock = () => {
    asker.tell({ do: 'POST', uuid: `wanted-knock-${knocks++}` });
  };
  for (const subscriber of [service, job]) await known(knock, subscriber.line('message'));
  for (const uuid of ['other', 'wanted']) {
    asker.tell({ do: 'POST', uuid });
    await asker.peer.line('answer', { uuid, command: 'EVENT', body: 'completed' });
  }
  const event = (uuid: string) => [`sample/${uuid}`, 'NFPB01', '0x08', 'sample', 'w1', uuid, '200', 'completed'];
  await service.line('message', heard(...event('other')));
  for (const subscriber of [service, job]) await subscriber.line('message', heard(...event('wanted')));

  expect(messages(job).filter((text) => text.startsWith('sample/other'))).toEqual([]);
});
