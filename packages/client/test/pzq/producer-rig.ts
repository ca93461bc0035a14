/** Drives a producer's session by hand: events in, effects out as lines of text, time moved from deadline to deadline. */
import { fromLatin1, latin1 } from '@proj/frames';
import { decodePzqAtProducer } from '@proj/frames/pzq';
import { passTime } from '@proj/testkit';
import { PzqProducerSession } from '../../src/pzq/engine/producer-session.js';
import type {
  PzqProducerEffect,
  PzqProducerEvent,
  PzqProducerSessionOptions,
} from '../../src/pzq/engine/producer-events.js';

/** One effect as a line: what a reader needs to know of it. */
function line(effect: PzqProducerEffect<string>): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint}`;
    case 'close':
      return `close ${effect.socket}`;
    case 'send':
      return `send ${effect.socket} ${latin1(effect.command.id)}`;
    case 'stored':
      return `stored ${effect.ticket}`;
    case 'failed':
      return `failed ${effect.ticket} ${effect.code}${effect.reason === '' ? '' : ` ${effect.reason}`}`;
    case 'note':
      return `note ${Object.values(effect.note).join(' ')}`;
  }
}

/** A session at time 0 with endpoints `a` and `b` and a window of 2, unless told otherwise. Checks invariants after each step. */
export class ProducerRig {
  now = 0;
  readonly session: PzqProducerSession<string>;

  constructor(options: Partial<PzqProducerSessionOptions> = {}) {
    const defaults = { endpoints: ['a', 'b'], window: 2, windowBytes: 1000, waitingMax: 3, ackTimeoutMs: 5000 };
    this.session = new PzqProducerSession({ ...defaults, ...options }, () => 0);
  }

  /** Delivers one event and returns the effects. */
  step(event: PzqProducerEvent<string> | { kind: 'timer'; lateMs: number }): string[] {
    const lines = this.session.step(event, this.now).map(line);
    this.session.assertInvariants();
    return lines;
  }

  /** A message whose ticket is its id. */
  produce(id: string, bytes = 1): string[] {
    const order = { ticket: id, id: fromLatin1(id), headers: [], body: [new Uint8Array(bytes)], bytes };
    return this.step({ kind: 'produce', order });
  }

  abort(id: string): string[] {
    return this.step({ kind: 'abort', id: fromLatin1(id) });
  }

  /** What the queue says, frame by frame. */
  answer(socket: number, ...frames: string[]): string[] {
    return this.step({ kind: 'message', socket, message: decodePzqAtProducer(frames.map(fromLatin1)) });
  }

  ack(socket: number, id: string): string[] {
    return this.answer(socket, id, '1', '');
  }

  /** Moves time by `ms`, delivering each deadline on its way, punctually. */
  advance(ms: number): string[] {
    return passTime(this, this.session, ms).flatMap(([, lines]) => lines);
  }
}
