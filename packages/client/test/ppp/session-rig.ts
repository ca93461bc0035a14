/** Drives a Lazy Pirate session by hand: events in, effects out as lines of text, time moved from deadline to deadline. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodePppAtClient } from '@proj/frames/ppp';
import { passTime } from '@proj/testkit';
import type { RequestSocketPoolOptions } from '../../src/shared/request-socket-pool.js';
import { LazyPirateSession } from '../../src/ppp/engine/session.js';
import type { LazyPirateEffect, LazyPirateEvent, LazyPirateRequest } from '../../src/ppp/engine/session.js';

/** Texts as frames. */
export const frames = (...texts: string[]): Uint8Array[] => texts.map(fromLatin1);

const text = (content: readonly Uint8Array[]): string => content.map(latin1).join('|');

/** One effect as a line: what a reader needs to know of it. */
function line(effect: LazyPirateEffect): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint}`;
    case 'close':
      return `close ${effect.socket}`;
    case 'send':
      return `send ${effect.socket} ${text(effect.request.content)}`;
    case 'partial':
    case 'final':
      return `${effect.kind} ${effect.id} ${text(effect.reply.content)}`;
    case 'fail':
      return `fail ${effect.id} ${effect.code} [${effect.attempts.endpoints.join(' ')}] ${effect.attempts.totalMs}ms`;
    case 'note':
      return `note ${effect.note.code} ${'reason' in effect.note ? effect.note.reason : effect.note.endpoint}`;
  }
}

/** What a request in a test may set; everything else has a default. */
export interface RigRequest {
  readonly timeoutMs?: number;
  readonly tries?: number;
  readonly matches?: LazyPirateRequest['matches'];
}

/** A session at time 0 with endpoints `a` and `b` and one socket, unless told otherwise. Checks invariants after each step. */
export class SessionRig {
  now = 0;
  readonly session: LazyPirateSession;

  constructor(options: Partial<RequestSocketPoolOptions> = {}) {
    const defaults = { endpoints: ['a', 'b'], sockets: 1, waitingMax: 10, idleMs: 60_000 };
    this.session = new LazyPirateSession({ ...defaults, ...options });
  }

  /** Delivers one event and returns the effects. */
  step(event: LazyPirateEvent | { kind: 'timer'; lateMs: number }): string[] {
    const lines = this.session.step(event, this.now).map(line);
    this.session.assertInvariants();
    return lines;
  }

  request(id: number, { timeoutMs = 1000, tries = 3, matches }: RigRequest = {}): string[] {
    const request = { content: frames(`q${id}`), matches };
    return this.step({ kind: 'request', id, request, timeoutMs, tries, streaming: false });
  }

  /** Whatever the socket brings. */
  receive(socket: number, message: readonly Uint8Array[]): string[] {
    return this.step({ kind: 'message', socket, message: decodePppAtClient(message) });
  }

  /** A reply as a REQ socket gets it. */
  reply(socket: number, ...texts: string[]): string[] {
    return this.receive(socket, frames('', ...texts));
  }

  /** Moves time by `ms`, delivering each deadline on its way, punctually. */
  advance(ms: number): string[] {
    return passTime(this, this.session, ms).flatMap(([, lines]) => lines);
  }
}
