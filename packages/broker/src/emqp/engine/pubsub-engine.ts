/** eMQP/1.0, the pub-sub device: publishes, drops and counts. Rules 31 and 34 of docs/protocols/emqp.md. */
import { latin1 } from '@proj/frames';
import type { EmqpMalformedReason, EmqpPublish, EmqpPublished, EmqpToPubSub } from '@proj/frames/emqp';
import { type OncePer, oncePerMinute } from '@proj/heartbeat';
import type { Access, Engine, Peer, RejectReason, TimerEvent } from '@proj/transport';
import type { DropNote, Rejected } from '../../shared/events.js';
import { Rights } from '../../shared/rights.js';

/** The device's events. */
export type EmqpPubSubEvent =
  | { readonly kind: 'message'; readonly peer: Peer; readonly command: EmqpToPubSub }
  /** A PUBLISH from elsewhere in this process: rule 32. */
  | { readonly kind: 'handed-over'; readonly command: Pick<EmqpPublish, 'topic' | 'body'> }
  | Rejected<{ readonly peer: Peer }>
  /** The access rules have changed: rule 34. */
  | { readonly kind: 'access'; readonly access: Access }
  /** A prefix has got its first subscriber, or lost its last. */
  | { readonly kind: 'subscription'; readonly prefix: Uint8Array; readonly wanted: boolean }
  | { readonly kind: 'drain' };

/** Why a message was not published. */
export type EmqpPubSubDrop = EmqpMalformedReason | RejectReason | 'not-allowed';

/** A note for the log. At most one per reason and peer per minute; the counters include every occurrence. */
export type EmqpPubSubNote = DropNote<'message-dropped', EmqpPubSubDrop, { readonly peer: Peer }>;

/** What to do or report after a step. */
export type EmqpPubSubEffect =
  | { readonly kind: 'publish'; readonly command: EmqpPublished }
  | EmqpPubSubNote
  /** A prefix has got its first subscriber, or lost its last. */
  | { readonly kind: 'subscription'; readonly prefix: Uint8Array; readonly wanted: boolean }
  /** Nothing more will be published; further events are ignored. */
  | { readonly kind: 'drained' };

/** Totals since construction; plain data. Messages that slow subscribers miss are not counted. */
export interface EmqpPubSubStats {
  /** Messages given to the PUB socket. */
  readonly published: number;
  /** Messages among them that came from elsewhere in this process. */
  readonly handedOver: number;
  /** Gauge: prefixes with subscribers. 0 without option `xpub`. */
  readonly subscriptions: number;
  /** Notes withheld because the same note was sent within the minute. */
  readonly notesWithheld: number;
  /** Messages dropped, by reason; reasons that have not occurred are absent. */
  readonly dropped: Readonly<Partial<Record<EmqpPubSubDrop, number>>>;
}

/** The device as a deterministic state machine: keeps no messages, and never throws because of a peer. */
export class EmqpPubSubEngine implements Engine<EmqpPubSubEvent, EmqpPubSubEffect> {
  readonly deadline = Infinity;
  readonly #rights = new Rights();
  readonly #notes: OncePer = oncePerMinute();
  readonly #dropped: Partial<Record<EmqpPubSubDrop, number>> = {};
  #published = 0;
  #handedOver = 0;
  #subscriptions = 0;
  #withheld = 0;
  #drained = false;

  step(event: EmqpPubSubEvent | TimerEvent, now: number): readonly EmqpPubSubEffect[] {
    if (this.#drained) return [];
    switch (event.kind) {
      case 'message':
        return this.#onMessage(event.peer, event.command, now);
      case 'handed-over':
        this.#handedOver++;
        return this.#publish(event.command);
      case 'rejected':
        return this.#drop(event.reason, event.peer, now);
      case 'access':
        this.#rights.replace(event.access);
        return [];
      case 'subscription':
        this.#subscriptions += event.wanted ? 1 : -1;
        return [event];
      case 'drain':
        this.#drained = true;
        return [{ kind: 'drained' }];
      case 'timer':
        return [];
    }
  }

  stats(): EmqpPubSubStats {
    return {
      published: this.#published,
      handedOver: this.#handedOver,
      subscriptions: this.#subscriptions,
      notesWithheld: this.#withheld,
      dropped: { ...this.#dropped },
    };
  }

  assertInvariants(): void {
    if (this.#handedOver > this.#published) throw new Error('more messages were handed over than published');
    if (this.#subscriptions < 0) throw new Error('more subscriptions ended than began');
  }

  #onMessage(peer: Peer, command: EmqpToPubSub, now: number): readonly EmqpPubSubEffect[] {
    if (command.kind === 'malformed') return this.#drop(command.reason, peer, now);
    if (this.#rights.limited && this.#rights.forbid(peer, 'request', latin1(command.topic)))
      return this.#drop('not-allowed', peer, now);
    return this.#publish(command);
  }

  #publish({ topic, body }: Pick<EmqpPublish, 'topic' | 'body'>): readonly EmqpPubSubEffect[] {
    this.#published++;
    return [{ kind: 'publish', command: { kind: 'published', topic, body } }];
  }

  #drop(reason: EmqpPubSubDrop, peer: Peer, now: number): readonly EmqpPubSubEffect[] {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + 1;
    if (this.#notes.allow(`${reason} ${peer.key}`, now))
      return [{ kind: 'note', code: 'message-dropped', reason, peer }];
    this.#withheld++;
    return [];
  }
}
