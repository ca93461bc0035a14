/** Addresses to listen on, and names that clients may use for them. */
import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { ProjError } from '@proj/transport';

/** The host and port in `HOST:PORT` or `[HOST]:PORT`. Throws `OPTIONS_INVALID`. */
export function parseListen(listen: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(listen) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw new ProjError('OPTIONS_INVALID', `http: "${listen}" must be HOST:PORT, such as 127.0.0.1:8055`);
  return { host, port: Number(port) };
}

/** Whether it can be reached only from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Rejects names that foreign DNS could point at us. */
export function isLocalName(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isIP(name) !== 0;
}

/** All addresses of `localhost`, which clients may take for either; other hosts have the one that the system chooses. */
export async function addressesOf(host: string): Promise<readonly string[]> {
  if (host !== 'localhost') return [host];
  const all = await dns.lookup(host, { all: true }).catch(() => []);
  return all.map(({ address }) => address);
}
