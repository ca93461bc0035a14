import { fromLatin1 } from '@proj/frames';
import { describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';
import { keyOf, peerNamed } from '../../../test/keyed.js';

/** Ada may request, Bob may serve, and everyone may list. */
function broker(): BrokerUnderTest {
  const made = new BrokerUnderTest();
  made.access(
    { keys: ['ada'], request: ['echo'] },
    { keys: ['bob'], serve: ['echo'] },
    { keys: '*', request: ['mmi.service'] },
  );
  return made;
}

describe('rule 28: requests', () => {
  it('rule 28: are accepted from clients that may request the service', () => {
    const under = broker();
    under.ready('w1@bob');
    expect(under.request('c1@ada', 'hello')).toEqual(['-> w1@bob REQUEST c1@ada "hello"']);
  });

  it.each([
    ['of somebody without a key', 'c1', 'echo'],
    ['of another key', 'c1@bob', 'echo'],
    ['for another service', 'c1@ada', 'other'],
    ['for another name under mmi.', 'c1@ada', 'mmi.workers'],
  ])('rule 28: %s are dropped and counted, and leave no trace', (_, client, service) => {
    const under = broker();
    under.ready('w1@bob');
    const { counters: before, ...books } = under.stats;
    expect(under.request(client, 'hello', service)).toEqual([`note request-dropped not-allowed ${client} ${service}`]);
    const { counters, ...after } = under.stats;
    expect(after).toEqual(books);
    expect(counters).toEqual({ ...before, dropped: { ...before.dropped, 'not-allowed': 1 } });
  });

  it('rule 28: are noted once a minute, and counted each time', () => {
    const under = broker();
    for (let i = 0; i < 5; i++) under.request('c1', 'hello');
    expect(under.dropped).toEqual({ 'not-allowed': 5 });
    expect(under.stats.counters.notesWithheld).toBe(4);
  });

  it('rule 28: under mmi. are services like any other', () => {
    const under = broker();
    expect(under.request('c1', 'echo', 'mmi.service')).toEqual(['-> c1 FINAL mmi.service "404"']);
  });

  it('rule 28: stay accepted when the rules change', () => {
    const under = broker();
    under.request('c1@ada', 'hello');
    under.access({ keys: ['bob'], serve: ['echo'] });
    expect(under.ready('w1@bob')).toContain('-> w1@bob REQUEST c1@ada "hello"');
    expect(under.final('w1@bob', 'c1@ada', 'done')).toEqual(['-> c1@ada FINAL echo "done"']);
  });
});

describe('rule 28: workers', () => {
  it.each([
    ['without a key', 'w1', 'echo'],
    ['with the key of a client', 'w1@ada', 'echo'],
    ['for another service', 'w1@bob', 'other'],
  ])('rule 28: READY %s is answered with DISCONNECT', (_, worker, service) => {
    const under = broker();
    expect(under.ready(worker, service)).toEqual([
      `note message-dropped not-allowed ${worker}`,
      `-> ${worker} DISCONNECT`,
    ]);
    expect(under.stats).toMatchObject({ workers: 0, services: [] });
  });

  it('rule 28: are dismissed when the rules change, and their jobs go to the remaining ones', () => {
    const under = broker();
    under.access({ keys: ['bob', 'eve'], serve: ['echo'] }, { keys: ['ada'], request: ['echo'] });
    under.ready('w1@eve');
    under.ready('w2@eve');
    under.ready('w3@bob');
    under.request('c1@ada', 'hello');
    expect(under.access({ keys: ['bob'], serve: ['echo'] })).toEqual([
      '-> w1@eve DISCONNECT',
      'worker-lost w1@eve echo not-allowed',
      '-> w2@eve DISCONNECT',
      'worker-lost w2@eve echo not-allowed',
      '-> w3@bob REQUEST c1@ada "hello"',
    ]);
    expect(under.final('w1@eve', 'c1@ada', 'late')).toEqual(['note message-dropped unknown-worker w1@eve']);
    expect(under.stats.workers).toBe(1);
  });

  it.each([
    ['FINAL', { kind: 'worker-final', version: '0.2', client: fromLatin1('c1@ada'), body: [fromLatin1('forged')] }],
    ['PARTIAL', { kind: 'worker-partial', version: '0.2', client: fromLatin1('c1@ada'), body: [fromLatin1('forged')] }],
    ['HEARTBEAT', { kind: 'heartbeat', version: '0.2' }],
    ['DISCONNECT', { kind: 'disconnect', version: '0.2' }],
    ['READY', { kind: 'worker-ready', version: '0.2', service: 'echo' }],
    ['no message', { kind: 'malformed', side: 'worker', reason: 'no-command' }],
  ] as const)('rule 28: %s under the routing id of a worker by another key has no effect on it', (_, command) => {
    const under = broker();
    under.ready('w1@bob');
    under.request('c1@ada', 'hello');
    const forger = { ...peerNamed('w1@bob'), publicKey: keyOf('eve') };
    expect(under.step({ kind: 'message', peer: forger, command })).toEqual(['note message-dropped not-allowed w1@bob']);
    expect(under.final('w1@bob', 'c1@ada', 'done')).toEqual(['-> c1@ada FINAL echo "done"']);
  });

  it('rule 28: that may not serve get one DISCONNECT per interval, however often they send READY', () => {
    const under = broker();
    under.ready('w1');
    expect(under.ready('w1')).toEqual([]);
    expect(under.stats.counters).toMatchObject({ disconnectsSent: 1, disconnectsWithheld: 1 });
  });
});

it('rule 28: without rules nothing is restricted', () => {
  const under = new BrokerUnderTest();
  under.ready('w1');
  expect(under.request('c1', 'hello')).toEqual(['-> w1 REQUEST c1 "hello"']);
});
