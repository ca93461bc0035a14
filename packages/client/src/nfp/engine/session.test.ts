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
