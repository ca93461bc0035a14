/** Drives a session by hand: events in, effects out as lines of text, time moved from deadline to deadline. */
import { fromLatin1, latin1 } from '@proj/frames';
import type { MdpToClient } from '@proj/frames/mdp';
import { passTime } from '@proj/testkit';
import { MdpClientSession } from '../../src/mdp/engine/session.js';
import type { MdpClientEffect, MdpClientEvent } from '../../src/mdp/engine/session.js';
import type { RequestSocketPoolOptions } from '../../src/shared/request-socket-pool.js';

/** Texts as body frames. */
export const body = (...texts: string[]): Uint8Array[] => texts.map(fromLatin1);

const text = (frames: readonly Uint8Array[]): string => frames.map(latin1).join('|');

/** One effect as a line: what a reader needs to know of it. */
function line(effect: MdpClientEffect): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint}`;
    case 'close':
      return `close ${effect.socket}`;
    case 'send':
      return `send ${effect.socket} ${effect.request.service} ${text(effect.request.body)}`;
    case 'partial':
    case 'final':
      return `${effect.kind} ${effect.id} ${text(effect.reply.body)}`;
    case 'fail':
      return `fail ${effect.id} ${effect.code} [${effect.attempts.endpoints.join(' ')}] ${effect.attempts.totalMs}ms`;
    case 'note':
      return `note ${effect.note.code} ${'reason' in effect.note ? effect.note.reason : effect.note.endpoint}`;
  }
}

/** What a request in a test may set; everything else has a default. */
export interface RigRequest {
  readonly service?: string;
  readonly timeoutMs?: number;
  readonly tries?: number;
  readonly streaming?: boolean;
  readonly version?: '0.1' | '0.2';
}

/** A session at time 0 with endpoints `a` and `b` and one socket, unless told otherwise. Checks invariants after each step. */
export class SessionRig {
  now = 0;
  readonly session: MdpClientSession;

  constructor(options: Partial<RequestSocketPoolOptions> = {}) {
    this.session = new MdpClientSession({
      endpoints: ['a', 'b'],
      sockets: 1,
      waitingMax: 10,
      idleMs: 60_000,
      ...options,
    });
  }

  /** Delivers one event and returns the effects. */
  step(event: MdpClientEvent | { kind: 'timer'; lateMs: number }): string[] {
    const lines = this.session.step(event, this.now).map(line);
    this.session.assertInvariants();
    return lines;
  }

  request(id: number, options: RigRequest = {}): string[] {
    const { service = 'echo', timeoutMs = 1000, tries = 3, streaming = false, version = '0.2' } = options;
    const request = { kind: 'client-request', version, service, body: body(`q${id}`) } as const;
    return this.step({ kind: 'request', id, request, timeoutMs, tries, streaming });
  }

  message(socket: number, message: MdpToClient): string[] {
    return this.step({ kind: 'message', socket, message });
  }

  partial(socket: number, ...texts: string[]): string[] {
    return this.message(socket, { kind: 'client-partial', version: '0.2', service: 'echo', body: body(...texts) });
  }

  final(socket: number, ...texts: string[]): string[] {
    return this.message(socket, { kind: 'client-final', version: '0.2', service: 'echo', body: body(...texts) });
  }

  /** Moves time by `ms`, delivering each deadline on its way, punctually. */
  advance(ms: number): string[] {
    return passTime(this, this.session, ms).flatMap(([, lines]) => lines);
  }
}
