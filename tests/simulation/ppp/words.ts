/** Paranoid Pirate messages as text, for traces. */
import { printable } from '@proj/frames';
import { decodePppAtClient, decodePppAtFrontend, decodePppAtQueue, decodePppAtWorker } from '@proj/frames/ppp';
import type { MessageEvent } from '@proj/transport/virtual';

/** True for messages of a worker that show that it is alive. */
export function isHeartbeat(frames: readonly Uint8Array[]): boolean {
  return decodePppAtQueue(frames).kind === 'heartbeat';
}

/** One message as a line. The two sides of a queue differ in what comes before the empty frame. */
export function describeMessage({ kind, socket, frames }: MessageEvent): string {
  const toBroker = (kind === 'sent' || kind === 'undeliverable') === (socket === 'dealer');
  const isClients = frames[0]?.length === 0;
  const command = isClients
    ? (toBroker ? decodePppAtFrontend : decodePppAtClient)(frames)
    : (toBroker ? decodePppAtQueue : decodePppAtWorker)(frames);
  if (command.kind === 'malformed') return `malformed (${command.reason})`;
  const words: string[] = [command.kind];
  if ('addresses' in command) words.push(...(command.addresses ?? []).map((address) => printable(address)));
  if ('content' in command) words.push(...command.content.map((frame) => printable(frame, 40)));
  return words.join(' ');
}
