/** PZQ, sending: the frames of every command. `wire.ts` holds the grammar. */
import { EMPTY_FRAME, fromLatin1 } from '../bytes.js';
import type { PzqCommand } from './commands.js';
import { decimalFrame } from './decimal.js';
import { MONITOR_FRAME, STATUS_FRAME } from './wire.js';

/**
 * The frames of a command, without the router's identity frame. The caller owns the array; ids, keys and bodies are passed on unchanged and
 * constant frames are shared, so do not modify any frame.
 *
 * Throws a `RangeError` for what no decoder would accept and no peer can cause: a body without frames, an empty header or key, a time that is
 * not a non-negative safe integer, a reason with success, text that is empty or not Latin-1.
 */
export function encodePzq(command: PzqCommand): Uint8Array[] {
  switch (command.kind) {
    case 'produce':
      for (const header of command.headers)
        if (header.length === 0) throw new RangeError('produce: a header is empty and would end the headers');
      return framed([command.id, ...command.headers], command.body);
    case 'producer-ack':
      if (!command.stored) return [command.id, STATUS_FRAME.no, EMPTY_FRAME, fromLatin1(command.reason)];
      if (command.reason !== '') throw new RangeError(`producer-ack: reason ${command.reason} beside success`);
      return [command.id, STATUS_FRAME.yes, EMPTY_FRAME];
    case 'delivery':
      return framed(
        [keyOf(command), decimalFrame(command.sentMicros), decimalFrame(command.ackTimeoutMicros)],
        command.body,
      );
    case 'consumer-ack':
      return [keyOf(command), command.positive ? STATUS_FRAME.yes : STATUS_FRAME.no];
    case 'lease-extension':
      return [keyOf(command)];
    case 'monitor-request':
      return [EMPTY_FRAME, MONITOR_FRAME];
    case 'monitor-reply':
      if (command.text === '') throw new RangeError('monitor-reply: there is no text');
      return [EMPTY_FRAME, fromLatin1(command.text)];
  }
}

/** `*head empty body`; the head becomes the message. */
function framed(head: Uint8Array[], body: readonly Uint8Array[]): Uint8Array[] {
  if (body.length === 0) throw new RangeError('a body needs at least one frame, an empty one if need be');
  head.push(EMPTY_FRAME);
  for (const frame of body) head.push(frame);
  return head;
}

function keyOf({ kind, key }: { readonly kind: string; readonly key: Uint8Array }): Uint8Array {
  if (key.length === 0) throw new RangeError(`${kind}: the key is empty`);
  return key;
}
