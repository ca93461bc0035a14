import type { Logger } from '@proj/appkit';
import type { Peer } from '@proj/transport';
import { describe, expect, it } from 'vitest';
import { logEvents, WORKER_NOTICES } from './log-events.js';

type Listener = (event: { kind: string; code: string; peer?: Peer; reason?: string }) => void;

/** The log lines for these events of a broker. */
function linesOf(...told: Parameters<Listener>[0][]): unknown[] {
  const listeners = new Map<string, Listener>();
  const lines: unknown[] = [];
  const write = (fields: unknown, word: string) => void lines.push([word, fields]);
  logEvents({ on: (event: string, listener: unknown) => listeners.set(event, listener as Listener) }, WORKER_NOTICES, {
    info: write,
    warn: write,
  } as unknown as Logger);
  for (const event of told) listeners.get(event.kind)?.(event);
  return lines;
}

const peerOf = (...bytes: number[]): Peer => ({ key: '', id: Uint8Array.from(bytes) });

describe('lines about peers', () => {
  it('show the routing id in hex, and as a name if it is one', () => {
    const named = peerOf(0x77, 0x2d, 0x31);
    expect(
      linesOf(
        { kind: 'worker-ready', code: '', peer: named },
        { kind: 'note', code: 'message-dropped', peer: peerOf(0, 0x77, 0x31), reason: 'short' },
        { kind: 'note', code: 'running-late' },
      ),
    ).toEqual([
      ['worker-ready', { peer: '772d31', peerName: 'w-1', code: '' }],
      ['message-dropped', { peer: '007731', reason: 'short' }],
      ['running-late', {}],
    ]);
  });
});
