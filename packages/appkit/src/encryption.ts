/** CURVE in the programs: the same options everywhere, applied to every socket of the process. */
import { deriveTransport, ProjError } from '@proj/transport';
import type { CurveOptions, HandshakeRefusal, PortListener, PortOptions, Transport } from '@proj/transport';
import {
  authorizedKeys,
  clientCurve,
  encodeZ85,
  explainRefusal,
  generateCurveKeys,
  readPublicKey,
  readSecretCertificate,
  serverCurve,
  writeCertificate,
} from '@proj/transport/curve';
import type { AuthorizedKeys, ServerCurve } from '@proj/transport/curve';
import type * as z from 'zod';
import { onOff, text } from './fields.js';
import { logOfPeer } from './peer-log.js';
import type { Logger } from './logging.js';

const secretKey = () => text('FILE', 'a certificate with a secret key, NAME.key_secret').optional();

/** Options of a program that peers connect to. */
const serverOptions = {
  curveSecretKey: secretKey().describe('encrypt, with the keys of this certificate (see proj keygen)'),
  authorizedKeys: text('PATH', 'a folder of .key files or a file of keys')
    .optional()
    .describe(
      'clients that may connect: a folder of .key files, or a file with one key per line; reloaded when it changes (default: any key)',
    ),
  zmqTrustedNetwork: onOff()
    .default(false)
    .describe(
      'with --transport zmq, bind on a reachable address without --authorized-keys, although any peer there can end this program (SECURITY.md)',
    ),
} satisfies z.ZodRawShape;

/** Options of a program that connects. */
const clientOptions = {
  serverKey: text('FILE|KEY', 'a certificate, or the 40 characters of a public key')
    .optional()
    .describe('encrypt, and accept only the server with this public key: its NAME.key, or the key itself'),
  curveSecretKey: secretKey().describe('own key pair for the server to check: a certificate (default: a new pair)'),
} satisfies z.ZodRawShape;

/** Values of these options, for clients or servers. */
interface EncryptionSettings {
  readonly curveSecretKey?: string | undefined;
  readonly authorizedKeys?: string | undefined;
  readonly zmqTrustedNetwork?: boolean | undefined;
  readonly serverKey?: string | undefined;
}

/** The encryption of this process, set when its command begins. */
interface Encryption {
  readonly curve: CurveOptions | undefined;
  /** The same for a server, as facades take it. */
  readonly server: ServerCurve | undefined;
  /** Whether strangers may be able to reach sockets that libzmq binds. */
  readonly zmqMayBeReached: boolean;
  readonly log: Logger;
}

let current: Encryption | undefined;
/** Lists that are watched as long as the process runs. */
const lists = new Set<AuthorizedKeys>();

/** The encryption options for a command: those of a client if it has `connect`, none if it has no sockets. */
export function encryptionOptions({ shape }: z.ZodObject): z.ZodRawShape {
  if (!('transport' in shape)) return {};
  return 'connect' in shape ? clientOptions : serverOptions;
}

/** Reads keys and lists before the command runs. Rejects with `OPTIONS_INVALID` for an invalid file, and for options that need another one. */
export async function prepareEncryption(settings: EncryptionSettings, log: Logger): Promise<void> {
  const server = settings.serverKey === undefined ? await serverOf(settings, log) : undefined;
  const { curve } = settings.serverKey === undefined ? serverCurve(server) : await clientOf(settings, log);
  const zmqMayBeReached = settings.zmqTrustedNetwork === true || server?.authorize !== undefined;
  current = { curve, server, zmqMayBeReached, log };
}

/** CURVE of this process; `undefined` if off. */
export function processCurve(): CurveOptions | undefined {
  return current?.curve;
}

/** CURVE of this process for the facade of a server; `undefined` if off, and in a client. */
export function processServerCurve(): ServerCurve | undefined {
  return current?.server;
}

/** Makes a key pair and writes its certificates, `<name>.key` and `<name>.key_secret`. Rejects with `OPTIONS_INVALID`. */
export async function writeKeyPair(name: string) {
  const keys = generateCurveKeys();
  return { ...(await writeCertificate(name, keys)), publicKey: encodeZ85(keys.publicKey) };
}

/** A watched list of authorized keys, with log lines. */
export async function followedKeys(path: string, log: Logger) {
  const list = await authorizedKeys(path, {
    onReload: (keys) => {
      log.info({ path, keys }, 'authorized keys');
    },
    onError: (error) => {
      log.error({ path, reason: error.message }, 'authorized keys were not changed');
    },
  });
  log.info({ path, keys: list.size }, 'authorized keys');
  lists.add(list);
  return list;
}

/** Reads the lists of authorized keys again now. If invalid, rejects with `OPTIONS_INVALID` and keeps the old lists. */
export async function reloadEncryption(): Promise<void> {
  await Promise.all([...lists].map((list) => list.reload()));
}

/** The transport, with this process's encryption on all sockets and log lines about refused peers. */
export function encrypted(transport: Transport, kind: 'zmtp' | 'zmq'): Transport {
  if (current === undefined) return transport;
  const { curve, log, zmqMayBeReached } = current;
  const refusals = new RefusalLog(current);
  const exposure = new ExposureLog(log, curve);
  const options = (port: PortOptions = {}): PortOptions => (curve === undefined ? port : { curve, ...port });
  const listening = <Port extends { start(listener: PortListener): void }>(port: Port): Port => {
    const start = port.start.bind(port);
    port.start = (listener) => {
      start({ ...listener, onRefused: refusals.before(listener) });
    };
    return port;
  };
  const binding = <Port extends { bind(endpoint: string): Promise<string> }>(port: Port): Port => {
    const bind = port.bind.bind(port);
    port.bind = async (endpoint) => {
      if (kind === 'zmq' && !zmqMayBeReached && !LOOPBACK.test(endpoint)) throw reachable(endpoint);
      const bound = await bind(endpoint);
      exposure.look(bound);
      return bound;
    };
    return port;
  };
  return deriveTransport(transport, {
    encrypts: curve !== undefined,
    load: () => transport.load({ curve: curve !== undefined }),
    router: (port) => binding(listening(transport.router(options(port)))),
    dealer: (port) => binding(listening(transport.dealer(options(port)))),
    publisher: (port) => binding(transport.publisher(options(port))),
    subscriber: (port) => transport.subscriber(options(port)),
  });
}

async function serverOf(
  { curveSecretKey, authorizedKeys: path }: EncryptionSettings,
  log: Logger,
): Promise<ServerCurve | undefined> {
  if (curveSecretKey === undefined) {
    if (path === undefined) return undefined;
    throw new ProjError('OPTIONS_INVALID', `--authorized-keys = "${path}": needs --curve-secret-key`);
  }
  const keys = await readKeys(curveSecretKey, log);
  log.info({ publicKey: encodeZ85(keys.publicKey) }, 'encrypted');
  return { keys, authorize: path === undefined ? undefined : await followedKeys(path, log) };
}

async function clientOf({ curveSecretKey, serverKey = '' }: EncryptionSettings, log: Logger) {
  const keys = curveSecretKey === undefined ? undefined : await readKeys(curveSecretKey, log);
  return clientCurve({ keys, serverKey: await readPublicKey(serverKey) });
}

async function readKeys(path: string, log: Logger) {
  const { warnings, ...keys } = await readSecretCertificate(path);
  for (const warning of warnings) log.warn(warning);
  return keys;
}

/** Logs failed handshakes: once a minute for the same key, cause and host, whatever the ports. */
class RefusalLog {
  readonly #log: Logger;
  readonly #side: CurveOptions['role'];

  constructor({ log, curve }: Encryption) {
    this.#log = log;
    this.#side = curve?.role ?? 'client';
  }

  before(listener: PortListener): (refusal: HandshakeRefusal) => void {
    return (refusal) => {
      const explained = explainRefusal(refusal, this.#side);
      const { reason, address } = refusal;
      const key = `${explained} ${this.#side === 'server' ? hostOf(address) : (address ?? '')}`;
      logOfPeer(this.#log, 'warn', { reason, ...(address === undefined ? {} : { address }) }, explained, key);
      listener.onRefused?.(refusal);
    };
  }
}

function reachable(endpoint: string): ProjError {
  return new ProjError(
    'OPTIONS_INVALID',
    `--transport zmq at "${endpoint}": libzmq cannot limit what strangers send; use --transport zmtp, or admit only known keys with --curve-secret-key and --authorized-keys, or set --zmq-trusted-network`,
  );
}

/** A client uses a new port for each attempt. */
function hostOf(address = ''): string {
  return address.replace(/:\d+$/, '');
}

const LOOPBACK = /^(ipc:|inproc:|tcp:\/\/(127\.[\d.]+|localhost|\[::1\]):)/;

/** Warns once if a socket without encryption is bound on a reachable address. */
class ExposureLog {
  readonly #log: Logger;
  #warned: boolean;

  constructor(log: Logger, curve: CurveOptions | undefined) {
    this.#log = log;
    this.#warned = curve !== undefined;
  }

  look(endpoint: string): void {
    if (this.#warned || LOOPBACK.test(endpoint)) return;
    this.#warned = true;
    this.#log.warn(
      { endpoint },
      'not encrypted, and open to everyone who can reach it; use --curve-secret-key and --authorized-keys',
    );
  }
}
