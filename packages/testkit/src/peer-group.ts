/** The peer processes of a test file: ended after each test, with a transcript after a failure. */
import { afterEach } from 'vitest';
import { PeerProcess } from './peer-process.js';
import type { PeerSpec } from './peer-process.js';

/** Starts peers and tracks them. */
export interface PeerGroup {
  /** Starts a process that ends with the test at the latest. */
  launch(spec: PeerSpec): PeerProcess;
}

/** A group for the tests of this file, or of the enclosing `describe`. */
export function peerGroup(): PeerGroup {
  const peers: PeerProcess[] = [];
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') for (const peer of peers) console.error(peer.transcript());
    await Promise.all(peers.splice(0).map((peer) => peer[Symbol.asyncDispose]()));
  });
  return {
    launch(spec) {
      const peer = new PeerProcess(spec);
      peers.push(peer);
      return peer;
    },
  };
}
