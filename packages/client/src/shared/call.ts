/** One request() or stream(), as the engine remembers it. */
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import type { CallTerms } from './events.js';
import type { RequestSocket } from './request-sockets.js';

/** An open call: waiting (no socket) or sent (on a socket, with a deadline). */
export class Call<Request> {
  readonly id: number;
  readonly order: CallTerms<Request>;
  /** Its place among the waiting calls. */
  readonly place = new Deadline<Call<Request>>(this);
  /** When the silence after the last send becomes too long. */
  readonly silence = new HeapDeadline<Call<Request>>(this);
  /** The socket it was last sent on. */
  socket: RequestSocket<Call<Request>> | undefined;
  sends = 0;
  firstEndpoint = 0;
  firstSentAt = 0;
  sentAt = 0;
  /** The caller has received a partial reply. */
  answered = false;
  /** This silence has had its one immediate resend. */
  hurried = false;
  /** This silence was excused once because our own process was busy. */
  credited = false;

  constructor(id: number, order: CallTerms<Request>) {
    this.id = id;
    this.order = order;
  }
}
