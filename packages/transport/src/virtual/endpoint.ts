/** Endpoint strings in ZeroMQ's syntax. Any transport name is accepted: nothing leaves the process. */
import { ProjError } from '../errors.js';

const ENDPOINT = /^[a-z][a-z0-9+.-]*:\/\/\S+$/;
const TCP = /^tcp:\/\/(\S+):(\*|\d+)$/;
const ANY_HOST = new Set(['*', '0.0.0.0', '[::]']);

/** First port assigned for `*`: the start of the range that operating systems use for it. */
const FIRST_FREE_PORT = 49152;
const LAST_PORT = 65535;

function refuse(endpoint: string, allowed: string): never {
  throw new ProjError('OPTIONS_INVALID', `endpoint ${JSON.stringify(endpoint)}: ${allowed}`);
}

/** Throws `OPTIONS_INVALID` unless the text is a complete endpoint. A wildcard port is for binding only. */
export function checkEndpoint(endpoint: string, use: 'bind' | 'connect'): void {
  if (!ENDPOINT.test(endpoint)) refuse(endpoint, 'must look like tcp://host:port or scheme://name');
  if (!endpoint.startsWith('tcp:')) return;
  const port = TCP.exec(endpoint)?.[2];
  const wildcard = port === '*' || port === '0';
  if (port === undefined || Number(port) > LAST_PORT || (use === 'connect' && wildcard))
    refuse(endpoint, `must end in a port from 1 to ${LAST_PORT}${use === 'bind' ? ' or *' : ''}`);
}

/** The endpoint, with a wildcard port replaced by the first free one. */
export function resolvePort(endpoint: string, taken: (endpoint: string) => boolean): string {
  const [, host, port] = TCP.exec(endpoint) ?? [];
  if (host === undefined || (port !== '*' && port !== '0')) return endpoint;
  for (let free = FIRST_FREE_PORT; free <= LAST_PORT; free++) {
    const candidate = `tcp://${host}:${free}`;
    if (!taken(candidate)) return candidate;
  }
  throw new ProjError('ADDRESS_IN_USE', `endpoint ${JSON.stringify(endpoint)}: no port is free`);
}

/** The key of a bound endpoint: all names for "every interface" are equal. */
export function bindingKey(endpoint: string): string {
  const [, host, port] = TCP.exec(endpoint) ?? [];
  return host !== undefined && port !== undefined && ANY_HOST.has(host) ? `tcp://*:${port}` : endpoint;
}

/** The keys under which a socket serving this endpoint may be registered, the exact one first. */
export function connectionKeys(endpoint: string): readonly string[] {
  const port = TCP.exec(endpoint)?.[2];
  return port === undefined ? [endpoint] : [endpoint, `tcp://*:${port}`];
}
