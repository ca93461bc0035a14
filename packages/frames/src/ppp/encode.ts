/** 6/PPP and the frontend of a queue, sending: the frames of every command. `wire.ts` holds the grammar. */
import { EMPTY_FRAME } from '../bytes.js';
import type { PppAddresses, PppCommand, PppContent } from './commands.js';
import { CONTROL_FRAME } from './wire.js';

/**
 * The frames of a command, without the router's identity frame. The array is the caller's; addresses and content are
 * handed on as they are and constant frames are shared, so no frame may be written to.
 *
 * Throws a `RangeError` for what no decoder would accept and no peer can cause: content without frames, an empty address,
 * a request or reply of the backend without any.
 */
export function encodePpp(command: PppCommand): Uint8Array[] {
  switch (command.kind) {
    case 'ready':
    case 'heartbeat':
      return [CONTROL_FRAME[command.kind]];
    case 'request':
    case 'reply':
      if (command.addresses.length === 0) throw new RangeError(`${command.kind}: there is no address`);
      return enveloped(command.addresses, command.content);
    case 'client-request':
    case 'client-reply':
      return enveloped(command.hops, command.content);
  }
}

/** `*address empty content` */
function enveloped(addresses: PppAddresses, content: PppContent): Uint8Array[] {
  if (content.length === 0) throw new RangeError('a message needs at least one content frame, an empty one if need be');
  const frames: Uint8Array[] = [];
  for (const address of addresses) {
    if (address.length === 0) throw new RangeError('an address is empty and would end the address stack');
    frames.push(address);
  }
  frames.push(EMPTY_FRAME);
  for (const frame of content) frames.push(frame);
  return frames;
}
