/** Paranoid Pirate effects as lines of text, for the tests of queue and pool. */
import { latin1 } from '@proj/frames';
import { encodePpp } from '@proj/frames/ppp';
import type { PppCommand } from '@proj/frames/ppp';
import type { PppNote, PppPoolEffect, PppQueueEffect } from '../../src/ppp/engine/events.js';

/** One line for one effect. Encodes what is sent, so that nothing unsendable passes. */
export function describeEffect(effect: PppQueueEffect | PppPoolEffect): string {
  switch (effect.kind) {
    case 'send':
      encodePpp(effect.command);
      return `-> ${effect.peer.key} ${describeCommand(effect.command)}`;
    case 'worker-ready':
      return `worker-ready ${effect.peer.key}`;
    case 'worker-lost':
      return `worker-lost ${effect.peer.key} ${effect.reason}`;
    case 'note':
      return describeNote(effect);
    case 'answer':
      return `answer ${effect.id} ${quoted(effect.content)}`;
    case 'fail':
      return `fail ${effect.id} ${effect.reason}`;
    case 'drained':
      return 'drained';
  }
}

function describeCommand(command: PppCommand): string {
  switch (command.kind) {
    case 'request':
    case 'reply':
      return [command.kind.toUpperCase(), ...(command.addresses ?? []).map(address), quoted(command.content)].join(' ');
    case 'client-reply':
      return ['REPLY', ...(command.hops?.map(address) ?? ['bare']), quoted(command.content)].join(' ');
    default:
      return command.kind.toUpperCase();
  }
}

function describeNote(note: PppNote): string {
  switch (note.code) {
    case 'message-dropped':
    case 'request-dropped':
    case 'reply-dropped':
      return `note ${note.code} ${note.reason} ${note.socket} ${note.peer.key}`;
    case 'spacing-hint':
      return `note ${note.code} ${note.peer.key} ${note.silentMs}ms of ${note.expiryMs}ms`;
    case 'running-late':
      return `note ${note.code} ${note.lateMs}ms`;
  }
}

/** A name as it is; a pool's correlation id as its number. */
function address(bytes: Uint8Array): string {
  return bytes.length === 8 && bytes[0] === 0 ? `#${latin1(bytes).charCodeAt(7)}` : latin1(bytes);
}

function quoted(content: readonly Uint8Array[]): string {
  return content.map((frame) => JSON.stringify(latin1(frame))).join(' ');
}
