/** Connection settings of all brokers' ROUTERs. Knows no protocol. */
import type { PortOptions } from '@proj/transport';

/** For the {@link PortOptions} of a broker that its workers send heartbeats to. */
export const CONNECTIONS = {
  // A restarted peer with a fixed routing id must win over its dead connection.
  handover: true,
  // The protocol's heartbeats detect workers that vanish. These detect clients, and workers that send none while they work; they cost as much per
  // connection.
  connectionHeartbeatMs: 10_000,
} satisfies PortOptions;

/** For ROUTERs that keep more than the default 1000 messages for a peer that does not read: to report each of 100,000 would take 0.2 s. */
export const LONG_QUEUES = { peerReportsMax: 1000 } satisfies PortOptions;
