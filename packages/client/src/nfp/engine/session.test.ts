import { encodeNfpJson } from '@proj/frames/nfp';
import type { NfpToClient } from '@proj/frames/nfp';
import { expect, it } from 'vitest';
import { NfpClientSession } from './session.js';

const OPTIONS = {
  endpoints: ['tcp://a:1'],
  commandForm: 'ascii',
  sendOpen: false,
  openTimeoutMs: 100,
  openBody: [],
  pollIntervalMs: 100,
  answerTimeoutMs: 1000,
  reconnectMinMs: 100,
  reconnectMaxMs: 100,
  openMax: 10,
  openMaxBytes: 1000,
  random: () => 0.5,
} as const;

const ORDER = {
  ticket: 'job',
  uuid: 'u1',
  service: 's',
  target: 'any',
  body: [],
  question: [],
  timeoutMs: 1000,
  resumed: true,
  workers: ['w1', 'w2'],
  told: [],
} as const;

const response = (status: number, body: unknown): NfpToClient => ({
  kind: 'client-answer',
  form: 'ascii',
  header: 'NFPB01',
  command: 'response',
  service: 's',
  uuid: 'u1',
  status,
  statusText: '',
  body: encodeNfpJson(body),
});

/** A session; `said` has the workers of the results of what it hears, and the end of its job. */
function heard() {
  const session = new NfpClientSession<string>(OPTIONS);
  const said: string[] = [];
  const hear = (message: NfpToClient): void => {
    for (const effect of session.step({ kind: 'message', socket: 1, message }, 0)) {
      if (effect.kind === 'result') said.push(effect.worker);
      if (effect.kind === 'ended') said.push('ended');
    }
  };
  return { session, said, hear };
}

it('rule 3: a worker has one last word about a job for any worker, whatever it says later', () => {
  const { session, said, hear } = heard();
  session.step({ kind: 'job', order: ORDER }, 0);
  hear(response(200, { w1: { result: 1 } }));
  hear(response(200, { w1: { result: 1 } }));
  hear(response(300, { worker: 'w1', status: 'PENDING' }));
  expect(said).toEqual(['w1']);
  hear(response(200, { w2: { result: 2 } }));
  expect(said).toEqual(['w1', 'w2', 'ended']);
});

it.each([
  ['from a 202 that names all workers', { ...ORDER, resumed: false, workers: [] }],
  ['from the order', ORDER],
])('rule 4: a job for any worker has one result, and no 404 of workers known %s', (_, order) => {
  const { session, said, hear } = heard();
  session.step({ kind: 'job', order }, 0);
  if (!order.resumed)
    hear(response(202, { workers: ['w1', 'w2'], uuid: 'u1', target: 'any', status: 'DISPATCHED', service: 's' }));
  hear(response(404, { worker: 'w1', status: 'JOB NOT FOUND', uuid: 'u1', service: 's' }));
  hear(response(200, { w2: { result: 1 } }));
  expect(said).toEqual(['w2', 'ended']);
});

it.each([
  ['at least every 4 s', 100, [0, 2, 5, 10, 19, 36, 69, 110, 151], 185],
  ['at least every second turn', 5000, [0, 2, 4, 6, 8], 9],
])(
  'rule 2: asks ever more rarely while nothing answers, %s, and at the next turn after an answer',
  (_, interval, turns, end) => {
    const session = new NfpClientSession<string>({ ...OPTIONS, pollIntervalMs: interval, answerTimeoutMs: 1e6 });
    const asked: number[] = [];
    const look = (effects: ReturnType<typeof session.step>, now: number) => {
      for (const effect of effects) if (effect.kind === 'send') asked.push(now);
    };
    look(session.step({ kind: 'job', order: { ...ORDER, timeoutMs: 1e6 } }, 0), 0);
    const turnsUntil = (end: number) => {
      while (session.deadline <= end) {
        const now = session.deadline;
        look(session.step({ kind: 'timer', lateMs: 0 }, now), now);
      }
    };
    turnsUntil(end * interval);
    expect(asked.map((at) => at / interval)).toEqual(turns);
    const answer = response(300, { worker: 'w1', status: 'PENDING' });
    session.step({ kind: 'message', socket: 1, message: answer }, (end + 0.5) * interval);
    turnsUntil((end + 3) * interval);
    expect(asked.slice(turns.length).map((at) => at / interval)).toEqual([end + 1, end + 3]);
  },
);

const UNKNOWN = { status: 'JOB NOT FOUND', uuid: 'u1', service: 's' };

/** A session with a job, at a time that only moves forward; `sent` has its calls. */
function clocked(order: Parameters<NfpClientSession<string>['step']>[0]) {
  const session = new NfpClientSession<string>({ ...OPTIONS, answerTimeoutMs: 1e6 });
  const sent: string[] = [];
  const said: string[] = [];
  let socket = 0;
  let now = 0;
  const look = (effects: ReturnType<typeof session.step>): void => {
    for (const effect of effects) {
      if (effect.kind === 'open') ({ socket } = effect);
      if (effect.kind === 'send') sent.push(effect.command.kind === 'client-call' ? effect.command.command : 'open');
      if (effect.kind === 'result') said.push(effect.worker);
    }
  };
  look(session.step(order, now));
  return {
    sent,
    said,
    hear: (message: NfpToClient) => look(session.step({ kind: 'message', socket, message }, now)),
    lose: () => look(session.step({ kind: 'lost', socket }, now)),
    /** Until the engine has sent something. */
    next: () => {
      for (const { length } = sent; sent.length === length;) {
        now = session.deadline;
        if (now === Infinity) throw new Error('the job has ended');
        look(session.step({ kind: 'timer', lateMs: 0 }, now));
      }
    },
  };
}

const dispatched = (target: string) =>
  response(202, { workers: ['w1', 'w2'], uuid: 'u1', target, status: 'DISPATCHED', service: 's' });

it.each(['all', 'any'])(
  'rule 4: what lost connections took with them is posted again each time: a job for %s',
  (target) => {
    const order = { ...ORDER, target, timeoutMs: 1e6 };
    const { sent, said, hear, lose, next } = clocked({ kind: 'job', order });
    for (let connection = 0; connection < 10; connection++) {
      if (connection > 0) next();
      hear(dispatched(target));
      for (const worker of ['w1', 'w2']) hear(response(404, { worker, ...UNKNOWN }));
      hear(dispatched(target));
      lose();
    }
    expect(sent).toEqual(Array.from({ length: 10 }, () => ['get', 'post']).flat());
    expect(said).toEqual([]);
  },
);

it('rule 4: so is a broadcast that one worker knows, to the other one', () => {
  const { sent, said, hear, lose, next } = clocked({ kind: 'job', order: { ...ORDER, target: 'all', timeoutMs: 1e6 } });
  for (let connection = 0; connection < 10; connection++) {
    if (connection > 0) next();
    hear(response(300, { worker: 'w1', status: 'PENDING' }));
    hear(response(404, { worker: 'w2', ...UNKNOWN }));
    next();
    lose();
  }
  expect(sent.filter((command) => command === 'post')).toHaveLength(10);
  expect(said).toEqual([]);
});

it('rule 4: as many 404 are not believed as questions from before the POST had no answer', () => {
  const { sent, hear, next } = clocked({ kind: 'job', order: { ...ORDER, target: 'all', timeoutMs: 1e6 } });
  const gets = () => sent.filter((command) => command === 'get').length;
  const answer = () => {
    for (const worker of ['w1', 'w2']) hear(response(404, { worker, ...UNKNOWN }));
  };
  while (gets() < 5) next();
  answer();
  expect(sent.slice(5)).toEqual(['post']);
  hear(dispatched('all'));
  // Longer than time alone would raise doubts.
  while (gets() < 12) next();
  for (let old = 0; old < 4; old++) answer();
  expect(sent.filter((command) => command === 'post')).toHaveLength(1);
  answer();
  expect(sent.filter((command) => command === 'post')).toHaveLength(2);
});

it('rule 4: questions that the broker answered itself, or that were lost, do not raise doubts for long', () => {
  const { sent, hear, next } = clocked({ kind: 'job', order: { ...ORDER, target: 'all', timeoutMs: 1e6 } });
  const pending = response(300, { workers: [], uuid: 'u1', target: 'all', status: 'PENDING', service: 's' });
  const posts = () => sent.filter((command) => command === 'post').length;
  for (let turn = 0; turn < 100; turn++) {
    hear(pending);
    next();
  }
  for (const worker of ['w1', 'w2']) hear(response(404, { worker, ...UNKNOWN }));
  expect(posts()).toBe(1);
  hear(dispatched('all'));
  while (sent.slice(sent.lastIndexOf('post')).length < 5) next();
  for (const worker of ['w1', 'w2']) hear(response(404, { worker, ...UNKNOWN }));
  expect(posts()).toBe(2);
});

it('rule 4: of many questions that were lost, 16 at most raise doubts', () => {
  const { sent, hear, next } = clocked({ kind: 'job', order: { ...ORDER, target: 'all', timeoutMs: 1e6 } });
  const posts = () => sent.filter((command) => command === 'post').length;
  while (sent.length < 100) next();
  for (const worker of ['w1', 'w2']) hear(response(404, { worker, ...UNKNOWN }));
  hear(dispatched('all'));
  for (let turn = 0; turn < 10; turn++) next();
  for (let answers = 0; answers < 17; answers++) {
    expect(posts()).toBe(1);
    for (const worker of ['w1', 'w2']) hear(response(404, { worker, ...UNKNOWN }));
  }
  expect(posts()).toBe(2);
});

it('rule 4: questions to a lost connection raise no doubts about answers of the next one', () => {
  const { sent, hear, lose, next } = clocked({ kind: 'job', order: { ...ORDER, target: 'all', timeoutMs: 1e6 } });
  const posts = () => sent.filter((command) => command === 'post').length;
  const answer = () => {
    for (const worker of ['w1', 'w2']) hear(response(404, { worker, ...UNKNOWN }));
  };
  while (sent.length < 10) next();
  answer();
  hear(dispatched('all'));
  answer();
  lose();
  while (posts() < 2) {
    next();
    answer();
  }
  expect(sent.slice(10)).toEqual(['post', 'get', 'post']);
  hear(dispatched('all'));
  for (let turn = 0; turn < 3; turn++) next();
  expect(posts()).toBe(2);
  answer();
  expect(posts()).toBe(3);
});
