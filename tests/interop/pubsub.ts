/** Subscribers in Python, which print what they receive, for all protocols. */
import type { PeerProcess, PeerSpec } from '@proj/testkit';
import { pythonPeer } from './python.js';

/** A SUB with this prefix, given as latin1 text. */
export function pythonSubscriber(connect: string, prefix = ''): PeerSpec {
  return pythonPeer('pubsub', 'subscriber', { connect, prefix: Buffer.from(prefix, 'latin1').toString('hex') });
}

/** The line that a subscriber prints for a message with these frames, given as latin1 text. */
export function heard(...frames: readonly string[]): { readonly frames: string } {
  return { frames: frames.map((frame) => Buffer.from(frame, 'latin1').toString('hex')).join('|') };
}

/** Publishes repeatedly until a message arrives: from then on the publisher knows the subscription. */
export async function known(knock: () => void, heardOf: Promise<unknown>): Promise<void> {
  const knocking = setInterval(knock, 20);
  try {
    await heardOf;
  } finally {
    clearInterval(knocking);
  }
}

/** What a subscriber has printed so far, with hex where text is requested. */
export function messages(subscriber: PeerProcess): readonly string[] {
  return subscriber
    .lines('message')
    .map(({ frames }) => Buffer.from(String(frames).replaceAll('|', '7c'), 'hex').toString('latin1'));
}
