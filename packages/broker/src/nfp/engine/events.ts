/** NFP broker: the engine's events and effects, shared by `engine.ts` and `broker.ts`. */
import type { NfpBody, NfpFromBroker, NfpPublishedEvent, NfpToBroker } from '@proj/frames/nfp';
import type { Peer, UndeliverableReason } from '@proj/transport';
import type { DropNote, ControlEvent, LateNote, PeerEvent } from '../../shared/events.js';
import type { NfpAnswerLoss, NfpMessageDrop, NfpRefusal } from './counters.js';
import type { NfpInventory } from './management/inventory.js';

/** The engine's events. Timer events come from the driver. */
export type NfpBrokerEvent =
  /** The first event: the broker has started to listen (rule 12). */
  | { readonly kind: 'started' }
  | {
      readonly kind: 'message';
      readonly peer: Peer;
      readonly command: NfpToBroker;
      /** Set if it came to the management endpoint; no peer of another endpoint has the same key. */
      readonly at?: 'management';
    }
  | PeerEvent<NfpFromBroker>
  /** The outcome of a `file-request`. */
  | { readonly kind: 'file-answer'; readonly id: number; readonly outcome: NfpFileOutcome }
  /** The inventory has changed. */
  | { readonly kind: 'inventory'; readonly inventory: NfpInventory }
  /** An operator ends these workers, at once or when their jobs have ended: rule 25. */
  | ({ readonly kind: 'dismiss'; readonly isGraceful: boolean } & NfpWorkerChoice)
  /** Rules 11, 14 and 23. */
  | ControlEvent;

/** An operator's choice of workers: one by its routing id, as text or in hex, or all of a service. */
export type NfpWorkerChoice = { readonly worker: string } | { readonly service: string };

/** A question about the served folder. Urls begin with `nf://` and are not checked further. */
export type NfpFileRequest =
  | { readonly task: 'list_files' | 'file_details' | 'walk'; readonly url: string }
  /** Both in whole bytes, the size at least 1. */
  | { readonly task: 'fetch_file'; readonly url: string; readonly offset: number; readonly chunkSize: number };

/** The outcome of a file request. */
export type NfpFileOutcome =
  /** For `list_files` and `walk`. */
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** For `file_details`: the size in bytes, the checksum in lower-case hex. */
  | { readonly kind: 'details'; readonly size: number; readonly md5: string }
  /** For `fetch_file`. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** There is no such file; `escape`: the url leads out of the folder. */
  | { readonly kind: 'absent'; readonly escape: boolean }
  /** The disk failed, or the answer is too large; `error` is for humans. */
  | { readonly kind: 'failed'; readonly error: string };

/** Why a worker is no longer registered. */
export type NfpWorkerLoss =
  /** It was silent too long. */
  | 'expired'
  /** It said DISCONNECT. */
  | 'disconnected'
  /** Its connection ended. */
  | 'gone'
  /** A message to it could not be delivered. */
  | UndeliverableReason
  /** It sent a known command in a wrong shape. */
  | 'invalid'
  /** It sent READY for another service. */
  | 'unexpected'
  /** A management command or an operator dismissed it. */
  | 'dismissed'
  /** The access rules no longer let it serve. */
  | 'not-allowed'
  /** The broker is closing. */
  | 'drained';

export type { NfpDropReason } from './counters.js';

/**
 * A note for the log. At most one per reason and peer per minute; the counters include every occurrence. `peer` is the sender of a dropped
 * message, or the client of a refused call or dropped answer.
 */
export type NfpBrokerNote =
  | DropNote<'message-dropped', NfpMessageDrop, { readonly peer: Peer }>
  | DropNote<'call-refused', NfpRefusal, AtService>
  | DropNote<'answer-dropped', NfpAnswerLoss, AtService>
  | LateNote;

/** A peer, and the service it serves or has called. */
interface AtService {
  readonly peer: Peer;
  readonly service: string;
}

/** A worker has registered. */
export interface NfpWorkerReadyNotice extends AtService {
  readonly kind: 'worker-ready';
}

/** A worker is no longer registered. */
export interface NfpWorkerLostNotice extends AtService {
  readonly kind: 'worker-lost';
  readonly reason: NfpWorkerLoss;
}

/** A management command was executed. `restart` has dismissed all workers; for `shutdown` the broker has yet to drain. */
export interface NfpManagementNotice {
  readonly kind: 'management';
  readonly task: 'restart' | 'shutdown' | 'disconnect';
  readonly peer: Peer;
}

/** What to do or report after a step. */
export type NfpBrokerEffect =
  | { readonly kind: 'send'; readonly peer: Peer; readonly command: NfpFromBroker }
  /** The engine no longer needs a long body that it received. */
  | { readonly kind: 'release'; readonly body: NfpBody }
  | NfpWorkerReadyNotice
  | NfpWorkerLostNotice
  | NfpManagementNotice
  | NfpBrokerNote
  /** Answered by the event `file-answer` with the same id. */
  | { readonly kind: 'file-request'; readonly id: number; readonly request: NfpFileRequest }
  /** For subscribers. */
  | { readonly kind: 'publish'; readonly event: NfpPublishedEvent }
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };
