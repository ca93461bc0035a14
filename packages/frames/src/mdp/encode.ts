/** 18/MDP and 7/MDP, sending: the frames of every command in both versions. `wire.ts` holds the grammar. */
import { EMPTY_FRAME } from '../bytes.js';
import { writeServiceName } from '../service-name.js';
import type {
  MdpBody,
  MdpClientReply,
  MdpClientRequest,
  MdpCommand,
  MdpFraming,
  MdpVersion,
  MdpWorkerReply,
  MdpWorkerRequest,
} from './commands.js';
import { CLIENT_CODE, COMMAND_FRAME, HEADER_FRAME, WORKER_CODE } from './wire.js';

/**
 * The frames of a command, without the router's identity frame. The caller owns the array; body frames are passed on unchanged and constant
 * frames are shared, so do not modify any frame.
 *
 * Throws a `RangeError` for what no decoder would accept and no peer can cause: an invalid service name, an empty client address, a body without
 * frames, and PARTIAL in 0.1 (which TypeScript also rejects).
 */
export function encodeMdp(command: MdpCommand): Uint8Array[] {
  switch (command.kind) {
    case 'client-request':
      return named(command, CLIENT_CODE.request);
    case 'client-partial':
      requirePartials(command.version);
      return named(command, CLIENT_CODE.partial);
    case 'client-final':
      return named(command, CLIENT_CODE.final);
    case 'worker-ready': {
      const frames = workerOpening(command, WORKER_CODE[command.version].ready);
      frames.push(writeServiceName(command.service));
      return frames;
    }
    case 'worker-request':
      return addressed(command, WORKER_CODE[command.version].request);
    case 'worker-partial':
      requirePartials(command.version);
      return addressed(command, WORKER_CODE[command.version].partial);
    case 'worker-final':
      return addressed(command, WORKER_CODE[command.version].final);
    case 'heartbeat':
      return workerOpening(command, WORKER_CODE[command.version].heartbeat);
    case 'disconnect':
      return workerOpening(command, WORKER_CODE[command.version].disconnect);
  }
}

/**
 * `opening service body`. Here and below an array is created with the first body frame in it: appending to an existing array would quadruple its
 * size.
 */
function named(
  { version, leadingEmpty, service, body }: MdpClientRequest | MdpClientReply,
  code: number,
): Uint8Array[] {
  const header = HEADER_FRAME.client[version];
  const command = COMMAND_FRAME[code] as Uint8Array;
  const name = writeServiceName(service);
  const first = firstOf(body);
  // The client half of 0.1 has no command frame.
  if (version === '0.1') return withRest([EMPTY_FRAME, header, name, first], body);
  if (leadingEmpty === true) return withRest([EMPTY_FRAME, header, command, name, first], body);
  return withRest([header, command, name, first], body);
}

/** `opening address empty body` */
function addressed(message: MdpWorkerRequest | MdpWorkerReply, code: number): Uint8Array[] {
  const { version, client, body } = message;
  if (client.length === 0) throw new RangeError(`${message.kind}: the client address is empty`);
  const header = HEADER_FRAME.worker[version];
  const command = COMMAND_FRAME[code] as Uint8Array;
  const first = firstOf(body);
  if (isBehindEmpty(message)) return withRest([EMPTY_FRAME, header, command, client, EMPTY_FRAME, first], body);
  return withRest([header, command, client, EMPTY_FRAME, first], body);
}

/** `header command` in 0.2, `empty header command` in 0.1. */
function workerOpening(framing: MdpFraming, code: number): Uint8Array[] {
  const header = HEADER_FRAME.worker[framing.version];
  const command = COMMAND_FRAME[code] as Uint8Array;
  return isBehindEmpty(framing) ? [EMPTY_FRAME, header, command] : [header, command];
}

function isBehindEmpty({ version, leadingEmpty }: MdpFraming): boolean {
  return version === '0.1' || leadingEmpty === true;
}

function firstOf(body: MdpBody): Uint8Array {
  const [first] = body;
  if (first === undefined)
    throw new RangeError('a message needs at least one body frame, an empty one if nothing else');
  return first;
}

function withRest(frames: Uint8Array[], body: MdpBody): Uint8Array[] {
  for (let index = 1; index < body.length; index++) frames.push(body[index] as Uint8Array);
  return frames;
}

function requirePartials(version: MdpVersion): void {
  if (version === '0.1') throw new RangeError('PARTIAL does not exist in MDP 0.1');
}
