/** EventMQ: our process in the middle, and what its clients and workers send. */
import type { Contest } from './contest.js';

let jobs = 0;
const nextId = () => Buffer.from(`00000000-0000-4000-8000-${(jobs++).toString(16).padStart(12, '0')}`);
const opening = (command: string, id = nextId()) => [
  Buffer.alloc(0),
  Buffer.from('eMQP/1.0'),
  Buffer.from(command),
  id,
];
const queue = Buffer.from('default');
const headers = Buffer.from('reply-requested');

/** See {@link Contest}. */
export const emqp: Contest = {
  name: 'EMQP broker',
  ours: 'emqp-broker',
  bare: 'bare-emqp',
  atMost: 1.5,
  dialect: {
    ready: [...opening('INFORM'), Buffer.from('[[10, "default"]]'), Buffer.from('worker')],
    heartbeat: [...opening('HEARTBEAT'), Buffer.from('1795199684.5464654')],
    heartbeatMs: 3000,
    request: (body) => [...opening('REQUEST'), queue, headers, body],
    // The acceptance by the broker, and the result.
    answer: (frames) => (frames.length > 5 ? frames[4] : undefined),
    replies: ([, , command, id, , , body]) => {
      if (String(command) === 'ACK') return [opening('READY')];
      if (String(command) !== 'REQUEST') return [];
      return [[...opening('REPLY'), body, id] as Buffer[], opening('READY')];
    },
  },
};
