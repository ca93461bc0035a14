/** Events and notes that the engines of several brokers share. Knows no protocol. */
import type { Access, Peer, RejectReason, UndeliverableReason } from '@proj/transport';

/** What every engine hears from its host. */
export type ControlEvent =
  /** The access rules have changed. */
  | { readonly kind: 'access'; readonly access: Access }
  /** The process has become short of memory for waiting requests, or no longer is. */
  | { readonly kind: 'memory'; readonly isTight: boolean }
  /** Finish in order. */
  | { readonly kind: 'drain' };

/** What an engine hears of a peer besides its messages. */
export type PeerEvent<Command> =
  /** The peer's connection ended. */
  | { readonly kind: 'peer-gone'; readonly peer: Peer }
  | Undeliverable<{ readonly peer: Peer; readonly command: Command }>
  | Rejected<{ readonly peer: Peer }>;

/** A command sent earlier did not reach the peer. `others`: how many more were lost behind it; default none. */
export type Undeliverable<What> = What & {
  readonly kind: 'undeliverable';
  readonly reason: UndeliverableReason;
  readonly others?: number;
};

/** A message of the peer was over the socket's limits and dropped undecoded. */
export type Rejected<Who> = Who & { readonly kind: 'rejected'; readonly reason: RejectReason };

/** A note: a message, or something else of this peer, was dropped. */
export type DropNote<Code extends string, Reason extends string, Who> = Who & {
  readonly kind: 'note';
  readonly code: Code;
  readonly reason: Reason;
};

/** A note: a live peer was silent for more than half its expiry; the heartbeat intervals of the two sides may not match. Once per peer. */
export type SpacingNote<Who> = Who & {
  readonly kind: 'note';
  readonly code: 'spacing-hint';
  readonly silentMs: number;
  readonly expiryMs: number;
};

/** A note: our process was busy for longer than a heartbeat interval, so expiry was postponed by as much. */
export interface LateNote {
  readonly kind: 'note';
  readonly code: 'running-late';
  readonly lateMs: number;
}
