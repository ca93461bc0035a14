/** Endpoints of other ZeroMQ software that our sockets do not support: why, and what to use instead. */

/** Transports that only libzmq has, some only in special builds. */
const LIBZMQ_ONLY: Readonly<Record<string, string>> = {
  pgm: 'multicast',
  epgm: 'multicast',
  norm: 'multicast',
  udp: 'datagrams, for RADIO and DISH',
  tipc: 'for clusters on TIPC',
  vmci: 'between virtual machines',
  vsock: 'between virtual machines',
  hyperv: 'between virtual machines',
  gssapi: 'for Kerberos',
  ws: 'WebSocket, which bypasses CURVE',
  wss: 'WebSocket, which bypasses CURVE',
};

/** A sentence about an endpoint whose transport is known but not supported; `undefined` for all others. `hasInproc` is true on libzmq. */
export function explainScheme(endpoint: string, hasInproc: boolean): string | undefined {
  const scheme = /^([a-z]+):\/\//.exec(endpoint)?.[1] ?? '';
  if (scheme === 'inproc')
    return hasInproc
      ? undefined
      : 'inproc:// works within one process, on libzmq only (npm i zeromq, then transport: zmqTransport()); use ipc://path or tcp://127.0.0.1:port';
  const what = LIBZMQ_ONLY[scheme];
  if (what === undefined) return undefined;
  return `${scheme}:// (${what}) exists in libzmq only and is not supported here; use tcp://host:port, or ipc://path on one machine`;
}
