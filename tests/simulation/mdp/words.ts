/** Majordomo messages as text, for traces. */
import { printable } from '@proj/frames';
import { decodeMdpAtBroker } from '@proj/frames/mdp';
import type { MessageEvent } from '@proj/transport/virtual';
import { decodeFromBroker } from './sight.js';

/** True for messages of a worker that show that it is alive. */
export function isHeartbeat(frames: readonly Uint8Array[]): boolean {
  return decodeMdpAtBroker(frames).kind === 'heartbeat';
}

/** One message as a line. */
export function describeMessage({ kind, socket, frames }: MessageEvent): string {
  const toBroker = (kind === 'sent' || kind === 'undeliverable') === (socket === 'dealer');
  const command = toBroker ? decodeMdpAtBroker(frames) : decodeFromBroker(frames);
  if (command.kind === 'malformed') return `malformed (${command.reason})`;
  const words: string[] = [command.kind, command.version];
  if ('service' in command) words.push(command.service);
  if ('client' in command) words.push(printable(command.client));
  if ('body' in command) words.push(...command.body.map((frame) => printable(frame, 40)));
  return words.join(' ');
}
