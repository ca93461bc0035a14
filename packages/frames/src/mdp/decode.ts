/**
 * 18/MDP and 7/MDP, receiving: one decoder per role. Each is total (any array of frames yields a value), keeps nothing of its input except the
 * frames it returns, and copies no body. `wire.ts` holds the grammar.
 */
import { readServiceName } from '../service-name.js';
import type {
  MdpBody,
  MdpMalformed,
  MdpMalformedReason,
  MdpToBroker,
  MdpToClient,
  MdpToWorker,
  MdpVersion,
} from './commands.js';
import { CLIENT_CODE, type Header, readHeader, WORKER_CODE } from './wire.js';

/** How strictly a broker reads. */
export interface MdpDecodeOptions {
  /** Also accept 0.2 messages behind an empty frame, marked `leadingEmpty`. Default false: 18/MDP removed that frame. */
  readonly acceptLeadingEmpty?: boolean | undefined;
}

type Frames = readonly Uint8Array[];

/** Decodes a message received by a broker's ROUTER, without the identity frame. Never throws. */
export function decodeMdpAtBroker(frames: Frames, options?: MdpDecodeOptions): MdpToBroker {
  const header = readOpening(frames, options?.acceptLeadingEmpty === true);
  if ('kind' in header) return header;
  const at = afterHeader(frames);
  const command = header.side === 'client' ? clientToBroker(header, frames, at) : workerToBroker(header, frames, at);
  if (at === 1 || header.version === '0.1' || command.kind === 'malformed') return command;
  return { ...command, leadingEmpty: true };
}

/** Decodes a message received by a worker's DEALER. Strict: no 0.2 behind an empty frame. Never throws. */
export function decodeMdpAtWorker(frames: Frames): MdpToWorker {
  const header = readOpening(frames, false);
  if ('kind' in header) return header;
  const { side, version } = header;
  if (side === 'client') return malformed('wrong-direction', side);
  const at = afterHeader(frames);
  const command = readCommand(frames[at]);
  const code = WORKER_CODE[version];
  switch (command) {
    case code.request:
      return addressed('worker-request', version, frames, at + 1);
    case code.heartbeat:
      return bare('heartbeat', version, frames, at + 1);
    case code.disconnect:
      return bare('disconnect', version, frames, at + 1);
    case code.ready:
    case code.partial:
    case code.final:
      return malformed('wrong-direction', side);
    default:
      return noCommand(command, side);
  }
}

/** Decodes a message received by a client's DEALER. Strict: no 0.2 behind an empty frame. Never throws. */
export function decodeMdpAtClient(frames: Frames): MdpToClient {
  const header = readOpening(frames, false);
  if ('kind' in header) return header;
  const { side, version } = header;
  if (side === 'worker') return malformed('wrong-direction', side);
  const at = afterHeader(frames);
  if (version === '0.1') return named('client-final', version, frames, at);
  const command = readCommand(frames[at]);
  switch (command) {
    case CLIENT_CODE.partial:
      return named('client-partial', version, frames, at + 1);
    case CLIENT_CODE.final:
      return named('client-final', version, frames, at + 1);
    case CLIENT_CODE.request:
      return malformed('wrong-direction', side);
    default:
      return noCommand(command, side);
  }
}

function clientToBroker({ side, version }: Header, frames: Frames, at: number): MdpToBroker {
  if (version === '0.1') return named('client-request', version, frames, at);
  const command = readCommand(frames[at]);
  switch (command) {
    case CLIENT_CODE.request:
      return named('client-request', version, frames, at + 1);
    case CLIENT_CODE.partial:
    case CLIENT_CODE.final:
      return malformed('wrong-direction', side);
    default:
      return noCommand(command, side);
  }
}

function workerToBroker({ side, version }: Header, frames: Frames, at: number): MdpToBroker {
  const command = readCommand(frames[at]);
  const code = WORKER_CODE[version];
  switch (command) {
    case code.final:
      return addressed('worker-final', version, frames, at + 1);
    case code.heartbeat:
      return bare('heartbeat', version, frames, at + 1);
    case code.partial:
      return addressed('worker-partial', '0.2', frames, at + 1);
    case code.ready:
      return ready(version, frames, at + 1);
    case code.disconnect:
      return bare('disconnect', version, frames, at + 1);
    case code.request:
      return malformed('wrong-direction', side);
    default:
      return noCommand(command, side);
  }
}

/** `[empty] header`: 0.1 has the empty frame, 0.2 does not, unless tolerated. */
function readOpening(frames: Frames, acceptLeadingEmpty: boolean): Header | MdpMalformed {
  const first = frames[0];
  const behindEmpty = first?.length === 0;
  const frame = behindEmpty ? frames[1] : first;
  if (frame === undefined) return malformed('no-header', 'unknown');
  const header = readHeader(frame);
  if (header === undefined) return malformed('unknown-header', 'unknown');
  if (header.version === '0.1') return behindEmpty ? header : malformed('no-leading-empty', header.side);
  return behindEmpty && !acceptLeadingEmpty ? malformed('leading-empty', header.side) : header;
}

/** Index of the frame after the header that {@link readOpening} found. */
function afterHeader(frames: Frames): number {
  return frames[0]?.length === 0 ? 2 : 1;
}

/** The command's number, or why there is none. */
function readCommand(frame: Uint8Array | undefined): number | 'no-command' | 'command-length' {
  if (frame === undefined) return 'no-command';
  return frame.length === 1 ? (frame[0] as number) : 'command-length';
}

/** A result of {@link readCommand} that no case has handled. */
function noCommand(command: ReturnType<typeof readCommand>, side: Header['side']): MdpMalformed {
  return malformed(typeof command === 'number' ? 'unknown-command' : command, side);
}

/** `service body` */
function named<Kind extends 'client-request' | 'client-partial' | 'client-final', Version extends MdpVersion>(
  kind: Kind,
  version: Version,
  frames: Frames,
  at: number,
): { kind: Kind; version: Version; service: string; body: MdpBody } | MdpMalformed {
  const frame = frames[at];
  if (frame === undefined) return malformed('no-service', 'client');
  const service = readServiceName(frame);
  if (service === undefined) return malformed('service-invalid', 'client');
  if (frames.length <= at + 1) return malformed('no-body', 'client');
  return { kind, version, service, body: bodyFrom(frames, at + 1) };
}

/** `address empty body` */
function addressed<Kind extends 'worker-request' | 'worker-partial' | 'worker-final', Version extends MdpVersion>(
  kind: Kind,
  version: Version,
  frames: Frames,
  at: number,
): { kind: Kind; version: Version; client: Uint8Array; body: MdpBody } | MdpMalformed {
  const client = frames[at];
  if (client === undefined || client.length === 0) return malformed('envelope', 'worker');
  if (frames[at + 1]?.length !== 0) return malformed('envelope', 'worker');
  if (frames.length <= at + 2) return malformed('no-body', 'worker');
  return { kind, version, client, body: bodyFrom(frames, at + 2) };
}

/** Most bodies have one frame; `slice` would dominate the cost. */
function bodyFrom(frames: Frames, at: number): MdpBody {
  return frames.length === at + 1 ? [frames[at] as Uint8Array] : frames.slice(at);
}

/** `service` only */
function ready(version: MdpVersion, frames: Frames, at: number): MdpToBroker {
  const frame = frames[at];
  if (frame === undefined) return malformed('no-service', 'worker');
  const service = readServiceName(frame);
  if (service === undefined) return malformed('service-invalid', 'worker');
  if (frames.length !== at + 1) return malformed('extra-frames', 'worker');
  return { kind: 'worker-ready', version, service };
}

/** Nothing behind the command. */
function bare<Kind extends 'heartbeat' | 'disconnect'>(
  kind: Kind,
  version: MdpVersion,
  frames: Frames,
  at: number,
): { kind: Kind; version: MdpVersion } | MdpMalformed {
  return frames.length === at ? { kind, version } : malformed('extra-frames', 'worker');
}

function malformed(reason: MdpMalformedReason, side: MdpMalformed['side']): MdpMalformed {
  return { kind: 'malformed', reason, side };
}
