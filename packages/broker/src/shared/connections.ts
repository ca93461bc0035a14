/** What the ROUTERs of all brokers ask of their connections. No protocol. */
import type { PortOptions } from '@proj/transport';

/** For the {@link PortOptions} of a broker that hears from its workers regularly. */
export const CONNECTIONS = {
  // A restarted peer with a fixed routing id must win over its dead connection.
  handover: true,
  // Workers that vanish are found by the protocol's heartbeats. These find clients, and workers that are mute at work, and cost as much per connection.
  connectionHeartbeatMs: 10_000,
} satisfies PortOptions;
