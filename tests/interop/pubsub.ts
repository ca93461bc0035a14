/** Subscribers in Python, which say what comes, for all protocols. */
import type { PeerProcess, PeerSpec } from '@proj/testkit';
import { pythonPeer } from './python.js';

/** A SUB that asks for this prefix, given as latin1 text. */
export function pythonSubscriber(connect: string, prefix = ''): PeerSpec {
  return pythonPeer('pubsub', 'subscriber', { connect, prefix: Buffer.from(prefix, 'latin1').toString('hex') });
}

/** The line a subscriber says about a message with these frames, given as latin1 text. */
export function heard(...frames: readonly string[]): { readonly frames: string } {
  return { frames: frames.map((frame) => Buffer.from(frame, 'latin1').toString('hex')).join('|') };
}

/** Publishes again and again until it is heard of: from then on the publisher knows the subscription. */
export async function known(knock: () => void, heardOf: Promise<unknown>): Promise<void> {
  const knocking = setInterval(knock, 20);
  try {
    await heardOf;
  } finally {
    clearInterval(knocking);
  }
}

/** What a subscriber has said so far, with hex where text is asked for. */
export function messages(subscriber: PeerProcess): readonly string[] {
  return subscriber
    .lines('message')
    .map(({ frames }) => Buffer.from(String(frames).replaceAll('|', '7c'), 'hex').toString('latin1'));
}
