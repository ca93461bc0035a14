import { fromLatin1 } from '@proj/frames';
import type { NfpBody } from '@proj/frames/nfp';
import { describe, expect, it } from 'vitest';
import { keyOf, peerNamed } from '../../../test/keyed.js';
import { BrokerUnderTest } from '../../../test/nfp/broker-under-test.js';
import type { NfpBrokerOptions } from '../options.js';

const REASON = '["the rules of access do not let this key request the service"]';
const INVENTORY = { broker: {}, topology: {}, workers: [] };
const JSON_BODY: NfpBody = [fromLatin1('{}')];

/** Ada requests, Bob serves, and everyone may read the inventory. */
function broker(options: NfpBrokerOptions = {}): BrokerUnderTest {
  const made = new BrokerUnderTest({ inventory: INVENTORY, files: '/srv', ...options });
  made.access(
    { keys: ['ada'], request: ['sample'] },
    { keys: ['bob'], serve: ['sample'] },
    { keys: '*', request: ['sid.service.broker'] },
  );
  return made;
}

describe('rule 23: calls', () => {
  it('rule 23: are accepted from clients that may request the service', () => {
    const under = broker();
    under.ready('w1@bob');
    expect(under.post('c1@ada', 'u1')).toEqual([
      '-> c1@ada RESPONSE sample u1 202 DISPATCHED ["w1@bob"]',
      '-> w1@bob POST c1@ada u1 {}',
    ]);
  });

  it.each([
    ['of somebody without a key', 'c1', 'sample', 'all'],
    ['of another key', 'c1@bob', 'sample', 'all'],
    ['for another service', 'c1@ada', 'other', 'all'],
    ['for another service, to a worker of one that is allowed', 'c1@ada', 'other', 'w1@bob'],
    ['for the workers of all services', 'c1@ada', 'all', 'w1@bob'],
    ['for management of workers', 'c1@ada', 'mmi.service.worker', 'w1@bob'],
    ['for management of the broker', 'c1@ada', 'mmi.service.broker', 'all'],
    ['for files', 'c1@ada', 'fss.service.broker', 'all'],
  ])('rule 23: %s are answered with 400 and counted, and leave no trace', (_, client, service, target) => {
    const under = broker();
    under.ready('w1@bob');
    const { counters: before, ...books } = under.stats;
    expect(under.call(client, 'post', 'u1', target, service)).toEqual([
      `note call-refused not-allowed ${client} ${service}`,
      `-> ${client} RESPONSE ${service} u1 400 FAILED null ${REASON}`,
    ]);
    const { counters, ...after } = under.stats;
    expect(after).toEqual(books);
    expect(counters).toEqual({ ...before, dropped: { ...before.dropped, 'not-allowed': 1 } });
  });

  it('rule 23: are noted once a minute, and counted and answered each time', () => {
    const under = broker();
    for (let i = 0; i < 4; i++) under.post('c1', `u${i}`);
    expect(under.post('c1', 'u5')).toEqual([`-> c1 RESPONSE sample u5 400 FAILED null ${REASON}`]);
    expect(under.dropped).toEqual({ 'not-allowed': 5 });
    expect(under.stats.counters.notesWithheld).toBe(4);
  });

  it('rule 23: are answered in their own form', () => {
    const call = { kind: 'client-call', form: 'byte', command: 'get', service: 'sample', target: 'all' } as const;
    expect(broker().message('c1', { ...call, uuid: 'u1', body: JSON_BODY })[1]).toMatch(/^-> c1 byte RESPONSE/);
  });

  it('rule 23: by PUT are dropped and counted', () => {
    const under = broker();
    under.ready('w1@bob');
    expect(under.call('c1', 'put', 'u1')).toEqual(['note message-dropped not-allowed c1']);
    expect(under.dropped).toEqual({ 'not-allowed': 1 });
  });

  it('rule 23: to the broker’s own services are checked like any other', () => {
    const task = JSON.stringify({ task: 'get_inventory', kwargs: { name: 'w1' }, args: [] });
    expect(broker().call('c1', 'get', 'u1', 'all', 'sid.service.broker', task)).toEqual([
      '-> c1 RESPONSE sid.service.broker u1 200 null',
    ]);
  });

  it('rule 23: that were accepted stay accepted when the rules change', () => {
    const under = broker({ queueForService: true });
    under.post('c1@ada', 'u1', 'any');
    under.access({ keys: ['bob'], serve: ['sample'] });
    expect(under.ready('w1@bob')).toContain('-> w1@bob POST c1@ada u1 {}');
    expect(under.answer('w1@bob', 'response', 'c1@ada', 'u1', 200)).toEqual(['-> c1@ada RESPONSE sample u1 200 {}']);
  });

  it('rule 23: at the management endpoint are not restricted', () => {
    const under = broker();
    const call = { kind: 'client-call', form: 'ascii', command: 'get', target: 'all', uuid: 'u1' } as const;
    const body = [fromLatin1('{"task":"show_broker_version"}')];
    const command = { ...call, service: 'mmi.service.broker', body };
    expect(under.step({ kind: 'message', peer: peerNamed('m1'), at: 'management', command })[0]).toContain(' 200 ');
  });
});

describe('rule 23: workers', () => {
  it.each([
    ['without a key', 'w1', 'sample'],
    ['with the key of a client', 'w1@ada', 'sample'],
    ['for another service', 'w1@bob', 'other'],
  ])('rule 23: READY %s is answered with DISCONNECT', (_, worker, service) => {
    const under = broker();
    expect(under.ready(worker, service)).toEqual([
      `note message-dropped not-allowed ${worker}`,
      `-> ${worker} DISCONNECT ${service}`,
    ]);
    expect(under.stats).toMatchObject({ workers: 0, services: [] });
  });

  it('rule 23: are dismissed when the rules change, and jobs for any go to the remaining workers', () => {
    const under = broker();
    under.access({ keys: ['bob', 'eve'], serve: ['sample'] }, { keys: ['ada'], request: ['sample'] });
    under.ready('w1@eve');
    under.ready('w2@eve');
    under.ready('w3@bob');
    under.post('c1@ada', 'u1', 'any');
    expect(under.access({ keys: ['bob'], serve: ['sample'] })).toEqual([
      '-> w1@eve DISCONNECT sample',
      '-> w2@eve DISCONNECT sample',
      'worker-lost w1@eve sample not-allowed',
      'worker-lost w2@eve sample not-allowed',
      '-> c1@ada EVENT sample u1 200 redispatched w1@eve',
      '-> c1@ada RESPONSE sample u1 202 DISPATCHED ["w3@bob"]',
      '-> w3@bob POST c1@ada u1 {}',
    ]);
    expect(under.answer('w1@eve', 'response', 'c1@ada', 'u1', 200, 'late')[0]).toBe(
      'note message-dropped unknown-worker w1@eve',
    );
    expect(under.stats.workers).toBe(1);
  });

  const ascii = { form: 'ascii' } as const;
  const forged = { ...ascii, command: 'response', uuid: 'u1', status: 200, body: [fromLatin1('forged')] } as const;
  it.each([
    ['RESPONSE', { ...forged, kind: 'worker-answer', client: fromLatin1('c1@ada') }],
    ['RESPONSE as in the tables', { ...forged, kind: 'worker-table-answer', service: 'sample' }],
    ['OPEN', { ...ascii, kind: 'worker-open', body: JSON_BODY }],
    ['KEEPALIVE', { ...ascii, kind: 'worker-keepalive', service: 'sample' }],
    ['DISCONNECT', { ...ascii, kind: 'worker-disconnect', service: 'sample', body: [] }],
    ['READY', { ...ascii, kind: 'worker-ready', service: 'sample' }],
    ['no message', { kind: 'malformed', side: 'worker', reason: 'shape' }],
  ] as const)('rule 23: %s under the routing id of a worker by another key has no effect on it', (_, command) => {
    const under = broker();
    under.ready('w1@bob');
    under.post('c1@ada', 'u1');
    const forger = { ...peerNamed('w1@bob'), publicKey: keyOf('eve') };
    expect(under.step({ kind: 'message', peer: forger, command })).toEqual(['note message-dropped not-allowed w1@bob']);
    expect(under.answer('w1@bob', 'response', 'c1@ada', 'u1', 200)).toEqual(['-> c1@ada RESPONSE sample u1 200 {}']);
  });
});

it('rule 23: without rules nothing is restricted', () => {
  const under = new BrokerUnderTest();
  under.ready('w1');
  expect(under.post('c1', 'u1')).toHaveLength(2);
});
