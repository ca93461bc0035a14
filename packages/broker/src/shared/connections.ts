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
