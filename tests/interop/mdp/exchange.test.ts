// 18/MDP and 7/MDP with peers written only from the text: requests and replies, in every combination of makers.
import { describe, expect, it } from 'vitest';
import { BODIES, lengths } from '../test-peers.js';
import type { Body, Maker } from '../test-peers.js';
import { stage, VERSIONS } from './stage.js';

const PAIRINGS = (
  [
    ['python', 'ours', 'ours'],
    ['ours', 'ours', 'python'],
    ['python', 'ours', 'python'],
    ['ours', 'python', 'ours'],
  ] satisfies [Maker, Maker, Maker][]
).flatMap(([client, broker, worker]) => VERSIONS.map((version) => ({ client, broker, worker, version })));

/** Frames that a peer might mistake for its own. */
const LOOK_ALIKE: Body = [Buffer.from('MDPC02'), Buffer.from([1]), Buffer.from('MDPW01'), Buffer.from([6])];

const theater = stage();

describe.each(PAIRINGS)('MDP $version: $client client, $broker broker, $worker worker', (parts) => {
  const { version } = parts;

  it('bodies come back frame for frame, byte for byte', async () => {
    const endpoint = await theater.brokerBy(parts.broker, version);
    await theater.workerBy(parts.worker, version, endpoint, 'echo');
    const client = theater.clientBy(parts.client, version, endpoint);
    for (const body of [...BODIES, LOOK_ALIKE]) {
      const answer = await client.ask('echo', body);
      expect(answer.partials).toEqual([]);
      expect(lengths(answer.body)).toEqual(lengths(body));
      expect(Buffer.concat(answer.body).equals(Buffer.concat(body))).toBe(true);
    }
  });

  it('each of 500 pipelined requests gets its own reply', async () => {
    const endpoint = await theater.brokerBy(parts.broker, version);
    await theater.workerBy(parts.worker, version, endpoint, 'echo');
    const bodies = Array.from({ length: 500 }, (_, number) => [Buffer.from(`request ${number}`)]);
    const replies = await theater.clientBy(parts.client, version, endpoint).askAll('echo', bodies);
    expect(replies.map(String)).toEqual(bodies.map(String));
  });
});

describe.each(PAIRINGS.filter(({ version }) => version === '0.2'))(
  'MDP $version: $client client, $broker broker, $worker worker',
  (parts) => {
    const { version } = parts;
    it('100 PARTIALs and the FINAL arrive in order', async () => {
      const endpoint = await theater.brokerBy(parts.broker, version);
      await theater.workerBy(parts.worker, version, endpoint, 'parts');
      const body = Array.from({ length: 100 }, (_, number) => Buffer.from(`frame ${number}`));
      const answer = await theater.clientBy(parts.client, version, endpoint).ask('echo', body);
      expect(answer.partials.map(String)).toEqual(body.map((frame, number) => `${number},${frame.toString()}`));
      expect(answer.body.map(String)).toEqual(['100']);
    });
  },
);
