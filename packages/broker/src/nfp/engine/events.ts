/** What the NFP broker engine is told and what it says: the vocabulary between `engine.ts` and `broker.ts`. */
import type { NfpFromBroker, NfpMalformedReason, NfpPublishedEvent, NfpToBroker } from '@proj/frames/nfp';
import type { Access, Peer, RejectReason, UndeliverableReason } from '@proj/transport';
import type { NfpInventory } from './inventory.js';

/** A fact reported to the engine. Timer events come from the driver. */
export type NfpBrokerEvent =
  /** The first event of a broker that listens to the world from now on: rule 12. */
  | { readonly kind: 'started' }
  | {
      readonly kind: 'message';
      readonly peer: Peer;
      readonly command: NfpToBroker;
      /** It came to the endpoint for management; the peer's key is that of no other endpoint's peer. Default: to the one for all. */
      readonly at?: 'management';
    }
  /** The peer's connection ended. */
  | { readonly kind: 'peer-gone'; readonly peer: Peer }
  /** A command of an earlier `send` did not reach the peer. */
  | {
      readonly kind: 'undeliverable';
      readonly peer: Peer;
      readonly command: NfpFromBroker;
      readonly reason: UndeliverableReason;
    }
  /** A message over the socket's limits was dropped undecoded. */
  | { readonly kind: 'rejected'; readonly peer: Peer; readonly reason: RejectReason }
  /** The end of a `file-request`. */
  | { readonly kind: 'file-answer'; readonly id: number; readonly outcome: NfpFileOutcome }
  /** Another inventory counts from now on. */
  | { readonly kind: 'inventory'; readonly inventory: NfpInventory }
  /** The process has no room for what would have to wait, or has again: see rule 11. */
  | { readonly kind: 'memory'; readonly isTight: boolean }
  /** Who may do what from now on: see rule 23. */
  | { readonly kind: 'access'; readonly access: Access }
  /** Come to an end: see rule 14. */
  | { readonly kind: 'drain' };

/** What a client wants to know of the broker's folder. Urls begin with `nf://` and may mean anything. */
export type NfpFileRequest =
  | { readonly task: 'list_files' | 'file_details' | 'walk'; readonly url: string }
  /** Both in bytes, whole numbers, the size from 1. */
  | { readonly task: 'fetch_file'; readonly url: string; readonly offset: number; readonly chunkSize: number };

/** What came of a request for files. */
export type NfpFileOutcome =
  /** To `list_files` and `walk`. */
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** To `file_details`; the size in bytes, the sum in lower-case hex. */
  | { readonly kind: 'details'; readonly size: number; readonly md5: string }
  /** To `fetch_file`. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** It is not there; `escape` when it was asked for outside of the folder. */
  | { readonly kind: 'absent'; readonly escape: boolean }
  /** The disk failed, or it is too much; for people. */
  | { readonly kind: 'failed'; readonly error: string };

/** Why a worker is no longer registered. */
export type NfpWorkerLoss =
  /** Silent for too long. */
  | 'expired'
  /** It said DISCONNECT. */
  | 'disconnected'
  /** Its connection ended. */
  | 'gone'
  /** A message to it did not go out. */
  | UndeliverableReason
  /** It sent a known command in a wrong shape. */
  | 'invalid'
  /** It sent READY for another service. */
  | 'unexpected'
  /** A management command sent it away. */
  | 'dismissed'
  /** The rules of access do not let it serve any more. */
  | 'not-allowed'
  /** The broker is closing. */
  | 'drained';

/** Why a call was answered with 400, or with 500 where asking again may help. */
export type NfpRefusal =
  /** The rules of access do not let its key request the service. */
  | 'not-allowed'
  /** The target is a JSON array that is broken or holds anything but names. */
  | 'target'
  /** No live worker of the service is meant by the target. */
  | 'no-worker'
  /** Another job of that uuid waits already. */
  | 'duplicate'
  /** Too many POSTs wait, or too many bytes. */
  | 'queue-full'
  /** No worker came for `requestTtlMs`; 408 where others of the target did. */
  | 'expired'
  /** Its worker was lost, and nobody could take it over; 408 for one of several workers. */
  | 'worker-lost'
  /** A call to a service of the broker that is no task. */
  | 'task'
  /** `managementCommands` is off, and it did not come to the endpoint for management. */
  | 'management'
  /** The endpoint for management serves management alone. */
  | 'not-management'
  /** Too many requests for files are under way; 500. */
  | 'files-busy'
  /** The disk failed, or it is too much; 500. */
  | 'files-failed'
  /** The broker closed first. */
  | 'drained';

/** Why an answer of a worker did not get to a client. */
export type NfpAnswerLoss =
  /** It names no client, and the broker does not know who asked. */
  | 'no-owner'
  /** The client is gone, or reads too slowly. */
  | 'unroutable'
  /** It is about a job that another worker has by now. */
  | 'superseded';

/** Why a message was dropped. */
export type NfpMessageDrop =
  | NfpMalformedReason
  | RejectReason
  /** A worker command from a peer that is not registered. */
  | 'unknown-worker'
  /** READY for a service of the broker. */
  | 'reserved-service'
  /** A worker command from somebody who may not serve that service, or a PUT for one that the client may not request. */
  | 'not-allowed'
  /** READY over a limit. */
  | 'services-limit'
  | 'workers-limit'
  /** OPEN whose body is no JSON; it is answered all the same. */
  | 'open-body'
  /** A request for files outside of the folder; it is answered as if they were missing. */
  | 'fss-escape'
  /** PUT for nobody, which has no answer. */
  | 'put-unserved';

/** Any reason for which something was dropped or refused: the labels of the drop counters. */
export type NfpDropReason = NfpMessageDrop | NfpRefusal | NfpAnswerLoss;

/**
 * Something worth a log line. At most one per reason and peer per minute; the counters hold every occurrence.
 * `peer` is the sender of a dropped message, the client of a refused call or dropped answer.
 */
export type NfpBrokerNote =
  | { readonly kind: 'note'; readonly code: 'message-dropped'; readonly reason: NfpMessageDrop; readonly peer: Peer }
  | {
      readonly kind: 'note';
      readonly code: 'call-refused';
      readonly reason: NfpRefusal;
      readonly peer: Peer;
      readonly service: string;
    }
  | {
      readonly kind: 'note';
      readonly code: 'answer-dropped';
      readonly reason: NfpAnswerLoss;
      readonly peer: Peer;
      readonly service: string;
    }
  /** This process could not keep up for longer than a keepalive interval; expiry was put off by as much. */
  | { readonly kind: 'note'; readonly code: 'running-late'; readonly lateMs: number };

/** A worker has registered. */
export interface NfpWorkerReadyNotice {
  readonly kind: 'worker-ready';
  readonly peer: Peer;
  readonly service: string;
}

/** A worker is no longer registered. */
export interface NfpWorkerLostNotice {
  readonly kind: 'worker-lost';
  readonly peer: Peer;
  readonly service: string;
  readonly reason: NfpWorkerLoss;
}

/** A management command was obeyed. What is left to do for `shutdown` is to drain; `restart` has sent all workers away. */
export interface NfpManagementNotice {
  readonly kind: 'management';
  readonly task: 'restart' | 'shutdown' | 'disconnect';
  readonly peer: Peer;
}

/** What the world is to do, or to know, after a step. */
export type NfpBrokerEffect =
  | { readonly kind: 'send'; readonly peer: Peer; readonly command: NfpFromBroker }
  | NfpWorkerReadyNotice
  | NfpWorkerLostNotice
  | NfpManagementNotice
  | NfpBrokerNote
  /** To be answered by the event `file-answer` with the same id. */
  | { readonly kind: 'file-request'; readonly id: number; readonly request: NfpFileRequest }
  /** For whoever subscribed. */
  | { readonly kind: 'publish'; readonly event: NfpPublishedEvent }
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };
