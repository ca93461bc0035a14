/** The effects of a worker's session during one step, in any protocol. */
import { StepOutput } from '@proj/transport/engine';
import type { SessionEffect } from './events.js';

/** Sends on the socket of the current conversation. `More` are the protocol's own effects. */
export class SessionOutput<Command, Note, More = never> extends StepOutput<SessionEffect<Command, Note> | More> {
  /** Number of the socket opened last, which is the conversation's while one is open. */
  socket = 0;

  push(effect: SessionEffect<Command, Note> | More): void {
    this.effects.push(effect);
  }

  send(command: Command, socket = this.socket): void {
    this.push({ kind: 'send', socket, command });
  }

  close(flush: boolean, socket = this.socket): void {
    this.push({ kind: 'close', socket, flush });
  }

  /** Reports every note: a worker has few, and counters are made from them. */
  report(note: Note): void {
    this.push({ kind: 'note', note });
  }
}
