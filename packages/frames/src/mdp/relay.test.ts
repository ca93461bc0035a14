/**
 * One request through a broker, decoder and encoder alone: every framing of client and worker, and what each end receives.
 */
import { framesOf, toHex } from '@proj/testkit';
import { describe, expect, test } from 'vitest';
import { decodeMdpAtBroker, decodeMdpAtClient, decodeMdpAtWorker, encodeMdp } from './index.js';
import type { MdpFraming } from './index.js';

const FRAMINGS: MdpFraming[] = [{ version: '0.1' }, { version: '0.2' }, { version: '0.2', leadingEmpty: true }];
const PAIRS = FRAMINGS.flatMap((client) => FRAMINGS.map((worker) => ({ client, worker })));
const ROUTING_ID = Uint8Array.of(0, 1, 2, 3, 4);
const question = framesOf('', 'MDPW02', Uint8Array.of(0, 0xff));
const answer = framesOf('MDPC01', '');

/** How a peer with that framing reads a message: it strips the empty frame that the strict decoders refuse. */
function asPeer(framing: MdpFraming, frames: Uint8Array[]): Uint8Array[] {
  return framing.leadingEmpty === true ? frames.slice(1) : frames;
}

describe('a broker that accepts a leading empty frame', () => {
  test.each(PAIRS)('relays between $client and $worker', ({ client, worker }) => {
    const asked = decodeMdpAtBroker(encodeMdp({ kind: 'client-request', ...client, service: 'echo', body: question }), {
      acceptLeadingEmpty: true,
    });
    expect(asked).toEqual({ kind: 'client-request', ...client, service: 'echo', body: question });
    if (asked.kind !== 'client-request') return;

    const job = encodeMdp({ kind: 'worker-request', ...worker, client: ROUTING_ID, body: asked.body });
    const given = decodeMdpAtWorker(asPeer(worker, job));
    expect(given).toEqual({ kind: 'worker-request', version: worker.version, client: ROUTING_ID, body: question });
    if (given.kind !== 'worker-request') return;

    const done = decodeMdpAtBroker(encodeMdp({ kind: 'worker-final', ...worker, client: given.client, body: answer }), {
      acceptLeadingEmpty: true,
    });
    expect(done).toEqual({ kind: 'worker-final', ...worker, client: ROUTING_ID, body: answer });
    if (done.kind !== 'worker-final') return;

    const reply = encodeMdp({ kind: 'client-final', ...client, service: asked.service, body: done.body });
    expect(decodeMdpAtClient(asPeer(client, reply))).toEqual({
      kind: 'client-final',
      version: client.version,
      service: 'echo',
      body: answer,
    });
  });

  test.each(FRAMINGS)('answers %o in kind, including DISCONNECT', (framing) => {
    const beat = encodeMdp({ kind: 'heartbeat', ...framing });
    const heard = decodeMdpAtBroker(beat, { acceptLeadingEmpty: true });
    expect(heard.kind).toBe('heartbeat');
    if (heard.kind !== 'heartbeat') return;
    const gone = encodeMdp({ ...heard, kind: 'disconnect' });
    expect(toHex(gone.slice(0, -1))).toEqual(toHex(beat.slice(0, -1)));
  });
});
