/** 6/PPP and the frontend of a queue, sending: the frames of every command. `wire.ts` holds the grammar. */
import { EMPTY_FRAME } from '../bytes.js';
import type { PppCommand, PppContent, PppStack } from './commands.js';
import { CONTROL, CONTROL_FRAME } from './wire.js';

/**
 * The frames of a command, without the router's identity frame. The caller owns the array; addresses and content are passed on unchanged and
 * constant frames are shared, so do not modify any frame.
 *
 * A reply without stack that would be misread (a frame of it is empty, or it is a single control frame) is sent behind an empty stack. Throws a
 * `RangeError` for what no decoder would accept and no peer can cause: content without frames, an empty address, a request without stack that
 * would be misread.
 */
export function encodePpp(command: PppCommand): Uint8Array[] {
  switch (command.kind) {
    case 'ready':
    case 'heartbeat':
      return [CONTROL_FRAME[command.kind]];
    case 'request':
      if (command.addresses === undefined && isAmbiguous(command.content)) throw ambiguous();
      return enveloped(command.addresses, command.content);
    case 'reply':
      return enveloped(command.addresses ?? (isAmbiguous(command.content) ? [] : undefined), command.content);
    case 'client-request':
      if (command.hops === undefined && command.content.some(isEmpty)) throw ambiguous();
      return enveloped(command.hops, command.content);
    case 'client-reply':
      // A requester without an address stack gets the reply unchanged.
      return enveloped(command.hops, command.content);
  }
}

/**
 * `[*address empty] content`. Most messages have at most one address and one frame of content: their array is made in its final size, because one
 * that grows takes four times the memory.
 */
function enveloped(stack: PppStack, content: PppContent): Uint8Array[] {
  if (content.length === 0) throw new RangeError('a message needs at least one content frame, an empty one if need be');
  if (stack === undefined) return [...content];
  for (const address of stack)
    if (isEmpty(address)) throw new RangeError('an address is empty and would end the address stack');
  if (stack.length > 1) return [...stack, EMPTY_FRAME, ...content];
  const [address] = stack;
  const [first] = content as [Uint8Array];
  const frames = address === undefined ? [EMPTY_FRAME, first] : [address, EMPTY_FRAME, first];
  for (let index = 1; index < content.length; index++) frames.push(content[index] as Uint8Array);
  return frames;
}

/** True for content of the backend that is unambiguous only behind a stack. */
function isAmbiguous(content: PppContent): boolean {
  const [first] = content;
  const isControl =
    content.length === 1 && first?.length === 1 && (first[0] === CONTROL.ready || first[0] === CONTROL.heartbeat);
  return isControl || content.some(isEmpty);
}

function isEmpty(frame: Uint8Array): boolean {
  return frame.length === 0;
}

function ambiguous(): RangeError {
  return new RangeError(
    'content without address stack has an empty frame, or is control: it would be read as something else',
  );
}
