/** Majordomo: our process in the middle, and what its clients and workers send. */
import type { Contest } from './contest.js';

const client = Buffer.from('MDPC02');
const worker = Buffer.from('MDPW02');
const service = Buffer.from('echo');

/** See {@link Contest}. */
export const mdp: Contest = {
  name: 'MDP broker',
  ours: 'mdp-broker',
  bare: 'bare-mdp',
  atMost: 1.25,
  dialect: {
    ready: [worker, Buffer.from([1]), service],
    heartbeat: [worker, Buffer.from([5])],
    heartbeatMs: 2500,
    request: (body) => [client, Buffer.from([1]), service, body],
    answer: (frames) => frames[3],
    replies: (frames) => (frames.length < 5 ? [] : [[worker, Buffer.from([4]), ...frames.slice(2)]]),
  },
};
