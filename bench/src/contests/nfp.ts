/** NFP: our process in the middle, and what its clients and workers send. */
import type { Contest } from './contest.js';

const empty = Buffer.alloc(0);
const client = Buffer.from('NFPC01');
const worker = Buffer.from('NFPW01');
const post = Buffer.from('0x04');
const response = Buffer.from('0x05');
const service = Buffer.from('echo');
const any = Buffer.from('any');
const done = Buffer.from('200');
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
    // The broker reports which worker it has asked, and the worker that it has done the job: a job without an end would be kept.
    answer: (frames) => (frames[5]?.equals(done) === true ? frames[6] : undefined),
    replies: ([none, , command, asker, , uuid, body], resultOf) =>
      command?.equals(post) === true
        ? [[none, worker, response, asker, none, uuid, done, resultOf(body as Buffer)] as Buffer[]]
        : [],
  },
};
