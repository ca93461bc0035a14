/** Paranoid Pirate: our process in the middle, and what its clients and workers send. */
import type { Contest } from './contest.js';

/** See {@link Contest}. */
export const ppp: Contest = {
  name: 'PPP queue',
  ours: 'ppp-queue',
  bare: 'bare-ppp',
  atMost: 1.25,
  dialect: {
    ready: [Buffer.from([1])],
    heartbeat: [Buffer.from([2])],
    heartbeatMs: 1000,
    request: (body) => [Buffer.alloc(0), body],
    answer: (frames) => frames[1],
    replies: (frames) => (frames.length < 3 ? [] : [frames]),
  },
};
