/** What the Majordomo pool's engine is told and what it says beyond what a broker's is: the vocabulary between `engine-pool.ts` and `pool.ts`. */
import type { MdpBody, MdpDisconnect, MdpHeartbeat, MdpWorkerRequest } from '@proj/frames/mdp';
import type { Peer } from '@proj/transport';
import type {
  MdpBrokerEvent,
  MdpBrokerNote,
  MdpOwnEvent,
  MdpRefusal,
  MdpRequestLoss,
  MdpWorkerLostNotice,
  MdpWorkerReadyNotice,
} from './events.js';

/** A fact reported to the engine. Timer events come from the driver. */
export type MdpPoolEvent =
  | Exclude<MdpBrokerEvent, MdpOwnEvent>
  /** The process wants this done. Ids are never used twice, not even by a pool that is started anew. */
  | {
      readonly kind: 'request';
      readonly id: number;
      readonly service: string;
      readonly body: MdpBody;
      /** Of silence: each partial reply begins it anew. */
      readonly timeoutMs: number;
    }
  /** It does not want it any more. */
  | { readonly kind: 'abort'; readonly id: number };

/** Why a request of the process has failed: `expired`, there was silence for its time-out. */
export type MdpCallFailure = MdpRefusal | MdpRequestLoss | 'expired';

/** What is to be done after a step. Each request that was not aborted has any number of `partial`, then one `answer` or one `fail`. */
export type MdpPoolEffect =
  | {
      readonly kind: 'send';
      readonly peer: Peer;
      readonly command: MdpWorkerRequest | MdpHeartbeat | MdpDisconnect;
    }
  | { readonly kind: 'partial'; readonly id: number; readonly body: MdpBody }
  | { readonly kind: 'answer'; readonly id: number; readonly body: MdpBody }
  | { readonly kind: 'fail'; readonly id: number; readonly reason: MdpCallFailure }
  | MdpWorkerReadyNotice
  | MdpWorkerLostNotice
  | MdpBrokerNote
  /** Nothing more will be sent; further events are ignored. */
  | { readonly kind: 'drained' };
