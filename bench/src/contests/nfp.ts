/** NFP: our process in the middle, and what its clients and workers send. */
import type { Contest } from './contest.js';

const empty = Buffer.alloc(0);
const client = Buffer.from('NFPC01');
const worker = Buffer.from('NFPW01');
const post = Buffer.from('0x04');
const response = Buffer.from('0x05');
const service = Buffer.from('echo');
const any = Buffer.from('any');
const accepted = Buffer.from('201');
let jobs = 0;
const nextUuid = () => Buffer.from((jobs++).toString(16).padStart(32, '0'));

/** See {@link Contest}. */
export const nfp: Contest = {
  name: 'NFP broker',
  ours: 'nfp-broker',
  bare: 'bare-nfp',
  atMost: 1.5,
  dialect: {
    ready: [empty, worker, Buffer.from('0x01'), service],
    heartbeat: [empty, worker, Buffer.from('0x02'), service],
    heartbeatMs: 2500,
    request: (body) => [empty, client, post, service, any, nextUuid(), body],
    // The broker reports which worker it has asked, and the worker that it has accepted.
    answer: (frames) => (frames[5]?.equals(accepted) === true ? frames[6] : undefined),
    replies: ([none, , command, asker, , uuid, body], resultOf) =>
      command?.equals(post) === true
        ? [[none, worker, response, asker, none, uuid, accepted, resultOf(body as Buffer)] as Buffer[]]
        : [],
  },
};
