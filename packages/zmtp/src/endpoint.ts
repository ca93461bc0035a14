/** Endpoints: which are allowed, what node:net makes of them, and what a system error means. */
import { lookup } from 'node:dns/promises';
import { unlink } from 'node:fs/promises';
import { createConnection, isIP } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProjError } from '@proj/transport';
import { explainScheme } from '@proj/transport/adapter';

/** Where node:net connects or listens. */
export type Target =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'ipc'; readonly path: string };

const TCP = /^tcp:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^:/;[\]]+)):(\*|\d+)$/;
const IPC = /^ipc:\/\/(.+)$/;
const LAST_PORT = 65_535;
/** What the system has room for. */
const PATH_MAX_BYTES = 107;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission to bind it',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOENT: 'its folder does not exist',
  ENOTFOUND: 'no such host',
};

/**
 * The target of an endpoint: `tcp://host:port`, `tcp://[v6]:port`, `ipc://path`, or `ipc://@name` for an abstract name (Linux, no file). When
 * binding, `*` stands for all IPv4 interfaces, any free port, or a new path. Throws `OPTIONS_INVALID`.
 */
export function parseEndpoint(endpoint: string, use: 'bind' | 'connect'): Target {
  const path = IPC.exec(endpoint)?.[1];
  if (path !== undefined) return ipcTarget(endpoint, path, use);
  const [, v6, name, digits] = TCP.exec(endpoint) ?? [];
  const host = v6 ?? name;
  if (host === undefined || digits === undefined)
    throw invalid(
      endpoint,
      explainScheme(endpoint, false) ?? 'must be tcp://host:port, tcp://[IPv6 address]:port or ipc://path',
    );
  const port = digits === '*' ? 0 : Number(digits);
  if (port > LAST_PORT || (use === 'connect' && port === 0))
    throw invalid(endpoint, `must end in a port from 1 to ${LAST_PORT}, or * to bind any free one`);
  if (host !== '*') return { kind: 'tcp', host, port };
  if (use === 'connect') throw invalid(endpoint, 'cannot connect to *; name a host');
  return { kind: 'tcp', host: '0.0.0.0', port };
}

function ipcTarget(endpoint: string, path: string, use: 'bind' | 'connect'): Target {
  if (path === '*') {
    if (use === 'connect') throw invalid(endpoint, 'cannot connect to *; give a path');
    return { kind: 'ipc', path };
  }
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) throw invalid(endpoint, `the path is over ${PATH_MAX_BYTES} bytes`);
  return { kind: 'ipc', path: path.replace(/^@/, '\0') };
}

/** Where to listen, as options for `server.listen`. `unique` makes the path for `ipc://*`. */
export async function listenOptions(target: Target, unique: () => string) {
  if (target.kind === 'ipc') return { path: target.path === '*' ? join(tmpdir(), `zmtp-${unique()}`) : target.path };
  const { host, port } = target;
  // Names resolve to IPv4: "localhost" would become ::1, where no ZeroMQ peer looks for it.
  const address = isIP(host) === 0 ? (await lookup(host, 4)).address : host;
  return { host: address, port, exclusive: true };
}

/** Where to connect, as options for `net.connect`. */
export function connectOptions(target: Target) {
  if (target.kind === 'ipc') return { path: target.path };
  return { host: target.host, port: target.port, noDelay: true, ...(isIP(target.host) === 0 ? { family: 4 } : {}) };
}

/** The endpoint that a listener is actually bound to. */
export function endpointOf(address: AddressInfo | string | null): string {
  if (address === null) return '';
  if (typeof address === 'string') return `ipc://${address.replace(/^\0/, '@')}`;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `tcp://${host}:${address.port}`;
}

/** Removes the socket file that a dead process left at this path. Leaves it alone while a process listens there. */
export async function removeStalePath(path: string): Promise<void> {
  if (path.startsWith('\0') || (await listenerAt(path)) !== 'dead') return;
  await unlink(path).catch(() => undefined);
}

/** `dead` is a socket without a listener. Any other kind of file is not ours to remove. */
function listenerAt(path: string): Promise<'alive' | 'dead' | 'other'> {
  return new Promise((resolve) => {
    const probe = createConnection({ path });
    probe.once('connect', () => {
      probe.destroy();
      resolve('alive');
    });
    probe.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'ECONNREFUSED' ? 'dead' : 'other');
    });
  });
}

/** The error to report for a failed bind. */
export function endpointError(endpoint: string, cause: unknown): ProjError {
  const { code = String(cause) } = cause as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return new ProjError('ADDRESS_IN_USE', `endpoint ${endpoint}: already in use; stop its owner or choose another`, {
      cause,
    });
  return invalid(endpoint, REASONS[code] ?? code, cause);
}

function invalid(endpoint: string, reason: string, cause?: unknown): ProjError {
  return new ProjError('OPTIONS_INVALID', `endpoint ${JSON.stringify(endpoint)}: ${reason}`, { cause });
}
