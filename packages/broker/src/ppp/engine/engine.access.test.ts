import { fromLatin1 } from '@proj/frames';
import { describe, expect, it } from 'vitest';
import { keyOf, peerNamed } from '../../../test/keyed.js';
import { PoolUnderTest, QueueUnderTest } from '../../../test/ppp/under-test.js';

const ADA = { keys: ['ada'], request: ['ppp'] };
const BOB = { keys: ['bob'], serve: ['ppp'] };

/** Ada may request, and Bob may serve. */
function queue(): QueueUnderTest {
  const made = new QueueUnderTest();
  made.access(ADA, BOB);
  return made;
}

describe('rule 20: requests', () => {
  it('rule 20: are accepted from clients that may request', () => {
    const under = queue();
    under.ready('w1@bob');
    expect(under.request('c1@ada', 'hello')).toEqual(['-> w1@bob REQUEST c1@ada "hello"']);
  });

  it.each([
    ['somebody without a key', 'c1'],
    ['another key', 'c1@bob'],
  ])('rule 20: of %s are dropped, noted once a minute, counted each time, and leave no trace', (_, client) => {
    const under = queue();
    under.ready('w1@bob');
    const { counters: _before, ...books } = under.stats;
    expect(under.request(client, 'hello')).toEqual([`note request-dropped not-allowed frontend ${client}`]);
    expect(under.request(client, 'hello')).toEqual([]);
    const { counters, ...after } = under.stats;
    expect(after).toEqual(books);
    expect(counters).toMatchObject({ requests: 0, notesWithheld: 1 });
    expect(under.dropped).toEqual({ 'not-allowed': 2 });
  });

  it('rule 20: stay accepted when the rules change', () => {
    const under = queue();
    under.request('c1@ada', 'hello');
    under.access(BOB);
    expect(under.ready('w1@bob')).toContain('-> w1@bob REQUEST c1@ada "hello"');
    expect(under.reply('w1@bob', 'c1@ada', 'done')).toEqual(['-> c1@ada REPLY "done"']);
  });
});

describe('rule 20: workers', () => {
  it.each([
    ['somebody without a key', 'w1'],
    ['the key of a client', 'w1@ada'],
  ])('rule 20: READY of %s registers nobody, and is not answered', (_, worker) => {
    const under = queue();
    under.request('c1@ada', 'hello');
    expect(under.ready(worker)).toEqual([`note message-dropped not-allowed backend ${worker}`]);
    expect(under.advanceQuietly(5000)).toEqual([]);
    expect(under.stats).toMatchObject({ workers: 0, waiting: 1 });
  });

  it('rule 20: are forgotten when the rules change, and their jobs go to the remaining ones', () => {
    const under = queue();
    under.access(ADA, { ...BOB, keys: ['bob', 'eve'] });
    for (const worker of ['w1@eve', 'w2@eve', 'w3@bob']) under.ready(worker);
    under.request('c1@ada', 'hello');
    expect(under.access(ADA, BOB)).toEqual([
      'worker-lost w1@eve not-allowed',
      'worker-lost w2@eve not-allowed',
      '-> w3@bob REQUEST c1@ada "hello"',
    ]);
    expect(under.reply('w1@eve', 'c1@ada', 'late')).toEqual(['note message-dropped not-allowed backend w1@eve']);
    expect(under.ready('w2@eve')).toEqual(['note message-dropped not-allowed backend w2@eve']);
    expect(under.reply('w3@bob', 'c1@ada', 'done')).toEqual(['-> c1@ada REPLY "done"']);
  });

  it.each([
    ['READY', { kind: 'ready' }],
    ['HEARTBEAT', { kind: 'heartbeat' }],
    ['a reply', { kind: 'reply', addresses: [fromLatin1('c1@ada')], content: [fromLatin1('forged')] }],
    ['no message', { kind: 'malformed', reason: 'control-unknown' }],
  ] as const)('rule 20: %s under the routing id of a worker by another key has no effect on it', (_, command) => {
    const under = queue();
    under.ready('w1@bob');
    under.request('c1@ada', 'hello');
    under.advance(2500);
    under.heartbeat('w1@bob');
    const peer = { ...peerNamed('w1@bob'), publicKey: keyOf('eve') };
    const note = 'note message-dropped not-allowed backend w1@bob';
    expect(under.step({ kind: 'message', socket: 'backend', peer, command })).toEqual([note]);
    expect(under.step({ kind: 'rejected', socket: 'backend', peer, reason: 'too-large' })).toEqual([]);
    expect(under.stats).toMatchObject({ workers: 1, busy: 1 });
    expect(under.advanceQuietly(3000)).toContain('5500ms: worker-lost w1@bob expired');
  });
});

it('rule 20: a pool gives its work to workers that may serve it', () => {
  const under = new PoolUnderTest();
  under.access(BOB);
  under.ready('w1@eve');
  under.request(1, 'hello');
  expect(under.ready('w2@bob')).toContain('-> w2@bob REQUEST #1 "hello"');
  expect(under.access()).toEqual(['worker-lost w2@bob not-allowed']);
  expect(under.stats).toMatchObject({ workers: 0, waiting: 1 });
});

it('rule 20: without rules nothing is restricted', () => {
  const under = new QueueUnderTest();
  under.ready('w1');
  expect(under.request('c1', 'hello')).toEqual(['-> w1 REQUEST c1 "hello"']);
});
