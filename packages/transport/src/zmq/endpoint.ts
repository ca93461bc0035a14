/** Endpoints of the zeromq adapter: which are allowed, and what a libzmq error means. */
import { createConnection } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import { explainScheme } from '../schemes.js';
import { ProjError } from '../errors.js';

const ENDPOINT = /^(tcp|ipc|inproc):\/\/.+$/;
const PORT = /:(\*|\d+)$/;
const LAST_PORT = 65_535;

/** What libzmq's codes mean for an endpoint; for other codes, the code itself is shown. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission to bind it',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EINVAL: 'it cannot be parsed',
  ENAMETOOLONG: 'the path is too long',
  ENODEV: 'no such host or interface on this machine',
  ENOENT: 'its folder does not exist',
  EPROTONOSUPPORT: 'the transport is not supported here',
};

/**
 * Throws `OPTIONS_INVALID` for endpoints that libzmq would misread (a port above 65535 wraps round) or must not get (`ws://` bypasses all
 * authentication).
 */
export function checkEndpoint(endpoint: string): void {
  if (!ENDPOINT.test(endpoint))
    throw invalid(endpoint, explainScheme(endpoint, true) ?? 'must be tcp://host:port, ipc://path or inproc://name');
  if (!endpoint.startsWith('tcp:')) return;
  const port = PORT.exec(endpoint)?.[1];
  if (port === undefined || Number(port) > LAST_PORT)
    throw invalid(endpoint, `must end in a port from 1 to ${LAST_PORT}, or * to bind any free one`);
}

/** True for an endpoint that needs the socket's IPv6 option. Names stay with IPv4: "localhost" would become ::1. */
export function isIpv6(endpoint: string): boolean {
  return endpoint.startsWith('tcp://[');
}

/** The error to report for a failed `bind` or `connect`. */
export function endpointError(endpoint: string, cause: unknown): ProjError {
  const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
  if (code === 'EADDRINUSE') return addressInUse(endpoint, cause);
  return invalid(endpoint, REASONS[code] ?? code, cause);
}

/**
 * Rejects with `ADDRESS_IN_USE` if a process listens on this `ipc://` path: libzmq would unlink it and silently cut off that process. A path
 * left behind by a dead process is free.
 */
export async function refuseServedPath(endpoint: string): Promise<void> {
  if (endpoint.startsWith('ipc:') && (await isServed(endpoint))) throw addressInUse(endpoint, undefined);
}

/** True if a process listens on this endpoint; false if unknown, as for `inproc://` and wildcards. */
export async function isServed(endpoint: string): Promise<boolean> {
  const target = listenerAt(endpoint);
  if (target === undefined) return false;
  return new Promise((resolve) => {
    const probe = createConnection(target);
    const answer = (value: boolean): void => {
      probe.destroy();
      resolve(value);
    };
    probe.once('connect', () => {
      answer(true);
    });
    probe.once('error', () => {
      answer(false);
    });
  });
}

/** Where node:net finds the listener of an endpoint. */
function listenerAt(endpoint: string): NetConnectOpts | undefined {
  const path = /^ipc:\/\/([^*].*)$/.exec(endpoint)?.[1];
  if (path !== undefined) return { path: path.replace(/^@/, '\0') };
  const [, host, port] = /^tcp:\/\/\[?(.+?)\]?:(\d+)$/.exec(endpoint) ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
}

function addressInUse(endpoint: string, cause: unknown): ProjError {
  return new ProjError('ADDRESS_IN_USE', `endpoint ${endpoint}: already in use; stop its owner or choose another`, {
    cause,
  });
}

function invalid(endpoint: string, reason: string, cause?: unknown): ProjError {
  return new ProjError('OPTIONS_INVALID', `endpoint ${JSON.stringify(endpoint)}: ${reason}`, { cause });
}
