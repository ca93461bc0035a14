/** What a client engine knows of one request() or stream(). */
import { Deadline, HeapDeadline } from '@proj/heartbeat';
import type { CallTerms } from './events.js';
import type { RequestSocket } from './request-sockets.js';

/** A call in hand: waiting (no lane) or sent (on a lane, with a deadline). */
export class Call<Request> {
  readonly id: number;
  readonly order: CallTerms<Request>;
  /** Its place among those that wait for a lane. */
  readonly place = new Deadline<Call<Request>>(this);
  /** When the silence after the last send has lasted too long. */
  readonly silence = new HeapDeadline<Call<Request>>(this);
  /** The lane it was last sent on. */
  lane: RequestSocket<Call<Request>> | undefined;
  sends = 0;
  firstEndpoint = 0;
  firstSentAt = 0;
  sentAt = 0;
  /** A partial reply has reached the caller. */
  answered = false;
  /** This silence has had its one resend without waiting. */
  hurried = false;
  /** This silence has had its credit for a time when our own process did not listen. */
  credited = false;

  constructor(id: number, order: CallTerms<Request>) {
    this.id = id;
    this.order = order;
  }
}
