/** Drives a client's session by hand: events in, effects out as lines of text, time moved from deadline to deadline. */
import { fromLatin1 } from '@proj/frames';
import { passTime } from '@proj/testkit';
import type { EmqpClientEffect, EmqpClientEvent, EmqpClientSessionOptions } from '../../src/emqp/engine/events.js';
import { EmqpClientSession } from '../../src/emqp/engine/session.js';

/** One effect as a line: what a reader needs to know of it. */
function line(effect: EmqpClientEffect<string>): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint}`;
    case 'close':
      return `close ${effect.socket}${effect.linger ? ' lingering' : ''}`;
    case 'send':
      return `send ${effect.socket} ${effect.command.id}`;
    case 'bye':
      return `bye ${effect.socket}`;
    case 'taken':
    case 'result':
      return `${effect.kind} ${effect.ticket}`;
    case 'failed':
      return `failed ${effect.ticket} ${effect.code}`;
    case 'note':
      return `note ${Object.values(effect.note).join(' ')}`;
  }
}

/** A session at time 0 with endpoints `a` and `b`, unless told otherwise. Checks invariants after each step. */
export class SessionRig {
  now = 0;
  readonly session: EmqpClientSession<string>;

  constructor(options: Partial<EmqpClientSessionOptions> = {}) {
    const defaults = { endpoints: ['a', 'b'], openMax: 5, timeoutMs: 5000, resultTimeoutMs: 60_000 };
    this.session = new EmqpClientSession({ ...defaults, ...options });
  }

  /** Delivers one event and returns the effects. */
  step(event: EmqpClientEvent<string> | { kind: 'timer'; lateMs: number }): string[] {
    const lines = this.session.step(event, this.now).map(line);
    this.session.assertInvariants();
    return lines;
  }

  /** A request whose ticket is its id. */
  request(id: string, wantsResult = false, mayRepeat = false): string[] {
    const empty = fromLatin1('');
    const command = { kind: 'request', id, queue: 'q', headers: empty, body: empty } as const;
    return this.step({ kind: 'order', order: { ticket: id, command, wantsResult, mayRepeat } });
  }

  schedule(id: string): string[] {
    const empty = fromLatin1('');
    const command = { kind: 'schedule', id, queue: 'q', headers: empty, interval: '1', body: empty, cron: '' } as const;
    return this.step({ kind: 'order', order: { ticket: id, command, wantsResult: false, mayRepeat: false } });
  }

  accept(socket: number, of: string): string[] {
    return this.step({ kind: 'message', socket, message: { kind: 'accepted', id: 'x', of } });
  }

  result(socket: number, of: string): string[] {
    return this.step({ kind: 'message', socket, message: { kind: 'result', id: 'x', result: fromLatin1('{}'), of } });
  }

  /** Moves time by `ms`, delivering each deadline on its way, punctually. */
  advance(ms: number): string[] {
    return passTime(this, this.session, ms).flatMap(([, lines]) => lines);
  }
}
