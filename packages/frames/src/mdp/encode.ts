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
 * The frames of a command, without the router's identity frame. The array is the caller's; body frames are handed on as
 * they are and constant frames are shared, so no frame may be written to.
 *
 * Throws a `RangeError` for what no decoder would accept and no peer can cause: an invalid service name, an empty client
 * address, a body without frames, and PARTIAL under 0.1 (which TypeScript refuses before).
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

/** `opening service body` */
function named(command: MdpClientRequest | MdpClientReply, code: number): Uint8Array[] {
  const frames = clientOpening(command, code);
  frames.push(writeServiceName(command.service));
  return withBody(frames, command.body);
}

/** `opening address empty body` */
function addressed(command: MdpWorkerRequest | MdpWorkerReply, code: number): Uint8Array[] {
  if (command.client.length === 0) throw new RangeError(`${command.kind}: the client address is empty`);
  const frames = workerOpening(command, code);
  frames.push(command.client, EMPTY_FRAME);
  return withBody(frames, command.body);
}

/** `header command` in 0.2, `empty header` in 0.1, whose client half has no command frame. */
function clientOpening(framing: MdpFraming, code: number): Uint8Array[] {
  const header = HEADER_FRAME.client[framing.version];
  if (framing.version === '0.1') return [EMPTY_FRAME, header];
  const command = COMMAND_FRAME[code] as Uint8Array;
  return framing.leadingEmpty === true ? [EMPTY_FRAME, header, command] : [header, command];
}

/** `header command` in 0.2, `empty header command` in 0.1. */
function workerOpening(framing: MdpFraming, code: number): Uint8Array[] {
  const header = HEADER_FRAME.worker[framing.version];
  const command = COMMAND_FRAME[code] as Uint8Array;
  const behindEmpty = framing.version === '0.1' || framing.leadingEmpty === true;
  return behindEmpty ? [EMPTY_FRAME, header, command] : [header, command];
}

function withBody(frames: Uint8Array[], body: MdpBody): Uint8Array[] {
  if (body.length === 0) throw new RangeError('a message needs at least one body frame, an empty one if nothing else');
  for (const frame of body) frames.push(frame);
  return frames;
}

function requirePartials(version: MdpVersion): void {
  if (version === '0.1') throw new RangeError('PARTIAL does not exist in MDP 0.1');
}
