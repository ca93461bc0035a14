/** NFP messages as text, for traces. */
import { latin1, printable } from '@proj/frames';
import { decodeNfpAtBroker } from '@proj/frames/nfp';
import type { MessageEvent } from '@proj/transport/virtual';
import { decodeFromBroker } from './sight.js';

const KEEPALIVE_FRAMES = 4;

/** True for messages of a worker that show that it is alive. */
export function isKeepalive(frames: readonly Uint8Array[]): boolean {
  return frames.length === KEEPALIVE_FRAMES && decodeNfpAtBroker(frames).kind === 'worker-keepalive';
}

/** One message as a line. */
export function describeMessage({ kind, socket, frames }: MessageEvent): string {
  const toBroker = (kind === 'sent' || kind === 'undeliverable') === (socket === 'dealer');
  const command = toBroker ? decodeNfpAtBroker(frames) : decodeFromBroker(frames);
  if (command.kind === 'malformed') return `malformed (${command.reason})`;
  const words: string[] = [command.kind];
  if ('command' in command) words.push(command.command);
  if ('client' in command) words.push(`for ${latin1(command.client)}`);
  if ('service' in command) words.push(command.service);
  if ('target' in command) words.push(command.target);
  if ('uuid' in command) words.push(command.uuid);
  if ('status' in command) words.push(command.status.toString());
  if ('body' in command) words.push(...command.body.map((frame) => printable(frame, 160)));
  return words.join(' ');
}
