import { fromLatin1 } from '@proj/frames';
import { describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';
import { keyOf, peerNamed } from '../../../test/keyed.js';

const BOB = { keys: ['bob'], serve: ['mail', 'scheduler'] };
const ADA = { keys: ['ada'], request: ['mail'] };

function broker(): BrokerUnderTest {
  const made = new BrokerUnderTest();
  made.access(ADA, BOB);
  return made;
}

describe('rule 33: requests', () => {
  it('rule 33: are accepted from clients that may request the queue', () => {
    const under = broker();
    under.inform('w1@bob', 'mail');
    under.ready('w1@bob');
    expect(under.request('c1@ada', 'r1', 'mail')).toContain('-> w1@bob REQUEST r1 mail');
  });

  it.each([
    ['of somebody without a key', 'c1', 'mail'],
    ['of another key', 'c1@bob', 'mail'],
    ['for another queue', 'c1@ada', 'other'],
  ])('rule 33: %s are dropped and counted, and leave no trace', (_, client, queue) => {
    const under = broker();
    expect(under.request(client, 'r1', queue)).toEqual([`note request-dropped not-allowed ${client} ${queue}`]);
    expect(under.request(client, 'r2', queue)).toEqual([]);
    expect(under.dropped).toEqual({ 'not-allowed': 2 });
    expect(under.stats).toMatchObject({ queues: [], openRequests: 0, counters: { notesWithheld: 1 } });
  });

  it('rule 33: to schedule are dropped for a queue that the sender may not request', () => {
    const under = broker();
    under.scheduler('s1@bob');
    expect(under.schedule('c1@ada', 'r1')).toEqual(['note message-dropped not-allowed c1@ada']);
    expect(under.unschedule('c1@ada', 'r2')).toEqual([]);
    expect(under.stats.counters.schedulings).toBe(0);
  });
});

describe('rule 33: workers and schedulers', () => {
  it('rule 33: INFORM is refused as a whole if one queue is not allowed', () => {
    const under = broker();
    expect(under.inform('w1@bob', 'mail', 'other')).toEqual(['note message-dropped not-allowed w1@bob']);
    expect(under.scheduler('s1@ada')).toEqual(['note message-dropped not-allowed s1@ada']);
    expect(under.stats).toMatchObject({ workers: 0, schedulers: 0, queues: [] });
  });

  it('rule 33: are dismissed when the rules change, and guaranteed jobs go to the remaining workers', () => {
    const under = broker();
    under.access(ADA, { ...BOB, keys: ['bob', 'eve'] });
    for (const name of ['w1@eve', 'w2@eve', 'w3@bob']) {
      under.inform(name, 'mail');
      under.ready(name);
    }
    under.request('c1@ada', 'r1', 'mail', 'guarantee,reply-requested');
    expect(under.access(ADA, BOB)).toEqual([
      '-> w1@eve KBAI',
      '-> w1@eve KBYE',
      'left w1@eve not-allowed',
      '-> w2@eve KBAI',
      '-> w2@eve KBYE',
      'left w2@eve not-allowed',
      '-> w3@bob REQUEST r1 mail',
    ]);
    expect(under.reply('w1@eve', 'r1')).toEqual(['note message-dropped unknown-peer w1@eve']);
    expect(under.reply('w3@bob', 'r1')).toEqual(['-> c1@ada RESULT r1 {"value": 5}']);
  });

  it.each([
    { kind: 'result', id: 'x', result: fromLatin1('forged'), of: 'r1' },
    { kind: 'ready', id: 'x' },
    { kind: 'bye', id: 'x', word: 'KBYE' },
    { kind: 'heartbeat', id: 'x', time: '' },
    { kind: 'inform-worker', id: 'x', queues: [{ weight: 10, name: 'mail' }] },
    { kind: 'malformed', reason: 'frame-count' },
  ] as const)('rule 33: $kind under the routing id of a worker by another key has no effect on it', (command) => {
    const under = broker();
    under.inform('w1@bob', 'mail');
    under.ready('w1@bob');
    under.request('c1@ada', 'r1', 'mail', 'reply-requested');
    const forger = { ...peerNamed('w1@bob'), publicKey: keyOf('eve') };
    expect(under.step({ kind: 'message', port: 'backend', peer: forger, command })).toEqual([
      'note message-dropped not-allowed w1@bob',
    ]);
    expect(under.reply('w1@bob', 'r1')).toEqual(['-> c1@ada RESULT r1 {"value": 5}']);
  });
});

describe('rule 33: the admin endpoint', () => {
  const CAROL = { keys: ['carol'], request: ['admin'] };

  it.each(['status', 'show-workers', 'show-schedulers', 'disconnect'] as const)(
    'rule 33: %s is neither obeyed nor answered without the right to request admin',
    (kind) => {
      const under = broker();
      const say = (name: string) => under.step({ kind: 'admin', peer: peerNamed(name), command: { kind, id: 'x' } });
      expect(say('a1@ada')).toEqual(['note message-dropped not-allowed a1@ada']);
      under.access(CAROL);
      expect(say('a2@ada')).toEqual(['note message-dropped not-allowed a2@ada']);
      expect(say('a3@carol')[0]).toMatch(/^-> a3@carol /);
    },
  );

  it('rule 33: DISCONNECT of a client needs this right as well', () => {
    const under = new BrokerUnderTest({ allowClientDisconnect: true });
    under.access(ADA, CAROL);
    const say = (name: string) =>
      under.step({
        kind: 'message',
        port: 'frontend',
        peer: peerNamed(name),
        command: { kind: 'disconnect', id: 'x' },
      });
    expect(say('c1@ada')).toEqual(['note message-dropped not-allowed c1@ada']);
    expect(say('c2@carol')).toContain('drained');
  });
});

it('rule 33: leaving workers may not finish their jobs when the rules change, and guaranteed jobs continue', () => {
  const under = new BrokerUnderTest();
  under.access(ADA, { ...BOB, keys: ['bob', 'eve'] });
  for (const name of ['w1@eve', 'w2@bob']) {
    under.inform(name, 'mail');
    under.ready(name);
  }
  under.request('c1@ada', 'r1', 'mail', 'guarantee,reply-requested');
  under.step({
    kind: 'message',
    port: 'backend',
    peer: peerNamed('w1@eve'),
    command: { kind: 'bye', id: 'b', word: 'KBYE' },
  });
  expect(under.access(ADA, BOB)).toContain('-> w2@bob REQUEST r1 mail');
  expect(under.reply('w1@eve', 'r1')).toEqual(['note message-dropped unknown-peer w1@eve']);
  expect(under.reply('w2@bob', 'r1')).toEqual(['-> c1@ada RESULT r1 {"value": 5}']);
});

it('rule 33: PUBLISH through the broker needs the right to request the topic', () => {
  const under = new BrokerUnderTest({ pubSub: { publish: () => undefined } });
  under.access({ keys: ['ada'], request: ['news.*'] });
  const publish = (name: string, topic: string) =>
    under.step({
      kind: 'message',
      port: 'frontend',
      peer: peerNamed(name),
      command: { kind: 'publish', id: 'x', topic: fromLatin1(topic), body: fromLatin1('b') },
    });
  expect(publish('p1@ada', 'sport')).toEqual(['note message-dropped not-allowed p1@ada']);
  expect(publish('p1', 'news.eu')).toEqual(['note message-dropped not-allowed p1']);
  expect(publish('p2@ada', 'news.eu')).toEqual([expect.stringContaining('news.eu')]);
});

it('rule 33: without rules nothing is restricted', () => {
  const under = new BrokerUnderTest();
  under.inform('w1', 'mail');
  under.ready('w1');
  expect(under.request('c1', 'r1', 'mail')).toContain('-> w1 REQUEST r1 mail');
});
