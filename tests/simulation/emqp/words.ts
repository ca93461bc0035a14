/** EventMQ messages as text, for traces. */
import { latin1 } from '@proj/frames';
import { decodeEmqpAtAdmin, decodeEmqpAtAdminPort, decodeEmqpAtBroker } from '@proj/frames/emqp';
import type { MessageEvent } from '@proj/transport/virtual';
import { decodeFromBroker, jobName } from './sight.js';

const CONSOLES = 3;

/** One message as a line. */
export function describeMessage({ kind, socket, socketNumber, frames }: MessageEvent): string {
  const toBroker = (kind === 'sent' || kind === 'undeliverable') === (socket === 'dealer');
  if (socket === 'router' && socketNumber === CONSOLES)
    return (toBroker ? decodeEmqpAtAdminPort(frames) : decodeEmqpAtAdmin(frames)).kind;
  const command = toBroker ? decodeEmqpAtBroker(frames) : decodeFromBroker(frames);
  if (command.kind === 'malformed') return `malformed (${command.reason})`;
  const words: string[] = [command.kind];
  if ('of' in command && command.of !== undefined) words.push(command.of.slice(0, 8));
  else if ('body' in command) words.push(command.id.slice(0, 8));
  if ('result' in command) words.push(latin1(command.result));
  if ('queue' in command) words.push(command.queue, `[${latin1(command.headers)}]`);
  if ('body' in command) words.push(jobName(command.body));
  if ('interval' in command) words.push(command.interval);
  if ('word' in command) words.push(command.word);
  return words.join(' ');
}
