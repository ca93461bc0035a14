/** EventMQ client: what is on its way, and where. Books only, no decisions. */
import { Deadline } from '@proj/heartbeat';
import type { EmqpOrder } from './events.js';

/** A socket to one broker. */
export interface Connection {
  readonly socket: number;
  readonly endpoint: string;
  readonly openedAt: number;
  /** When it brought a reply last; before that, when it was opened. */
  heardAt: number;
  /** Commands that end with it. */
  open: number;
  /** It said DISCONNECT: our farewell follows the last of them. */
  isTold: boolean;
}

/** A command without outcome. */
export class Command<Ticket> {
  readonly order: EmqpOrder<Ticket>;
  /** Where its replies come from; `undefined` while it waits to go out again. */
  connection: Connection | undefined;
  /** In the list of the untaken, then in that of the results. */
  readonly end = new Deadline<Command<Ticket>>(this);
  /** Until when a job that was accepted, and has gone out again, must be accepted again. */
  readonly again = new Deadline<Command<Ticket>>(this);

  constructor(order: EmqpOrder<Ticket>) {
    this.order = order;
  }
}
