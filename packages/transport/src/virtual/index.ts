/**
 * ZeroMQ without sockets and without waiting: an in-memory network whose time you control and whose faults you choose. Whatever runs on
 * `@proj/transport/zmq` runs on it unchanged, deterministically, as often as you like.
 *
 * ```ts
 * const network = new VirtualNetwork({ seed: 7 });
 * const broker = new MdpBroker({ endpoint: 'tcp://sim:5555', transport: network.transport('broker') });
 * const crashing = network.transport('worker');
 * ...
 * network.crash(crashing);                                                  // SIGKILL
 * const reply = await settle(network.clock, client.request('echo', ['hi'])); // virtual seconds, real microseconds
 * ```
 *
 * It has ZeroMQ's faults, not those of a datagram network. A pipe delivers in order and loses nothing until the connection ends, and then a
 * suffix. A peer that does not read fills its pipe. Dealers reconnect silently and keep unsent messages. A restarted router knows nobody. A
 * routing id may return on a new connection.
 */
export { AutoClock } from './auto-clock.js';
export type { ConnectionEvent, FaultEvent, MessageEvent, NetworkEvent } from './events.js';
export type { LinkTiming } from './virtual-wire.js';
export * from './network.js';
export type { ProcessState } from './process.js';
export { SeededRandom } from './random.js';
export { advance, settle } from './run.js';
export { VirtualTransport } from './transport.js';
