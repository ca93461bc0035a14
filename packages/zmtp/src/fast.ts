/**
 * The entry to fast/. The rest of the package uses these exports: the fast form, or the plain one if a trick is off or the runtime lacks what it
 * needs.
 */
import { Socket } from 'node:net';
import type { SocketConnectOpts } from 'node:net';
import { growMapped } from '@proj/transport/adapter';
import type { Allocate, Reuse } from './engine/framing/bytes.js';
import { NodeSocket } from './node-socket.js';
import { discard, lend, lendMapped, mapped } from './fast/bodies.js';
import { DirectSocket } from './fast/direct-socket.js';
import { adopt, HAS_INTERNALS } from './fast/internals.js';
import { Poller } from './fast/poller.js';
import type { Loop } from './fast/poller.js';
import { ReadBuffer } from './fast/read-buffer.js';
import { allocate as allocateWithSpares, reclaim } from './fast/spares.js';
import { isOn } from './fast/switch.js';

export { beginWrite, endWrite, giveBack } from './fast/bodies.js';
export type { Loop, Poller } from './fast/poller.js';
export { LONG_BYTES, SPARE_MEMORY } from './fast/spares.js';

const READS = isOn('reading');
const AnySocket = isOn('writing') && HAS_INTERNALS ? DirectSocket : NodeSocket;

/** Uninitialized memory of the given size. */
export const allocate: Allocate = isOn('spares') ? allocateWithSpares : (bytes) => Buffer.allocUnsafe(bytes);

/** Memory for long bodies; if absent, they are garbage-collected. */
export const REUSE: Reuse | undefined = isOn('spares') ? { lend, reclaim, discard } : undefined;
/** As {@link REUSE}, with a mapping of its own for each body. */
export const REUSE_MAPPED: Reuse | undefined = REUSE && {
  ...REUSE,
  lend: lendMapped,
  grow: growMapped,
  settle: mapped,
};

/** A socket that is being connected. */
export function connectSocket(options: SocketConnectOpts): NodeSocket {
  const buffer = READS ? new ReadBuffer() : undefined;
  const all: object = buffer === undefined ? options : { ...options, onread: buffer };
  const socket = new Socket(all);
  const wire = new AnySocket(socket, buffer);
  socket.connect(options);
  return wire;
}

/** A socket that a server has just accepted. The original must not be used any more. */
export function acceptSocket(accepted: Socket): NodeSocket {
  if (!READS || !HAS_INTERNALS) return new AnySocket(accepted);
  const buffer = new ReadBuffer();
  return new AnySocket(adopt(accepted, buffer), buffer);
}

/** Polls for at most the given time before the process sleeps; `undefined`: never polls. */
export function newPoller(windowMs: number, loop: Loop): Poller | undefined {
  return isOn('polling') ? new Poller(windowMs, loop) : undefined;
}
