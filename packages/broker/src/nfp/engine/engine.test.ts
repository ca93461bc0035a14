/** Facts about the NFP broker that `scenarios/` does not show: limits, losses, and what must pass unchanged. */
import { fromLatin1 } from '@proj/frames';
import { encodeNfpJson } from '@proj/frames/nfp';
import { describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/nfp/broker-under-test.js';
import { peerNamed } from '../../../test/keyed.js';
import type { NfpBrokerOptions } from '../options.js';

function brokerWith(...workers: string[]): BrokerUnderTest {
  return start({}, ...workers);
}

function start(options: NfpBrokerOptions, ...workers: string[]): BrokerUnderTest {
  const broker = new BrokerUnderTest(options);
  for (const worker of workers) broker.ready(worker);
  return broker;
}

describe('READY', () => {
  it('rule 4: has no answer', () => {
    expect(new BrokerUnderTest().ready('w1')).toEqual(['worker-ready w1 sample']);
  });

  it('rule 4: a second one for the same service renews the registration and changes nothing else', () => {
    const broker = brokerWith('w1');
    broker.advance(14_999);
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.advance(14_999).filter((line) => line.includes('lost'))).toEqual([]);
    expect(broker.post('c1', 'u1')).toHaveLength(2);
    expect(broker.stats.counters.repeatedReadies).toBe(1);
  });

  it('rule 4: one for another service ends the registration', () => {
    const broker = brokerWith('w1');
    expect(broker.ready('w1', 'other')).toEqual(['-> w1 DISCONNECT sample', 'worker-lost w1 sample unexpected']);
    expect(broker.stats).toMatchObject({ workers: 0, services: [] });
  });

  it.each(['mmi.service.broker', 'mmi.service.worker', 'sid.service.broker', 'fss.service.broker', 'all'])(
    'rule 4: nobody may serve %s',
    (service) => {
      const broker = new BrokerUnderTest();
      expect(broker.ready('w1', service)).toEqual([
        'note message-dropped reserved-service w1',
        `-> w1 DISCONNECT ${service}`,
      ]);
    },
  );

  it('rule 19: beyond workersMax is refused', () => {
    const broker = start({ workersMax: 1 }, 'w1');
    expect(broker.ready('w2')).toEqual(['note message-dropped workers-limit w2', '-> w2 DISCONNECT sample']);
  });

  it('rule 4: more often than registrationsPerSecondMax is refused', () => {
    const broker = new BrokerUnderTest({ registrationsPerSecondMax: 2 });
    for (let round = 0; round < 2; round++) {
      expect(broker.ready('w1')).toContain('worker-ready w1 sample');
      broker.disconnect('w1');
    }
    expect(broker.ready('w1')).toEqual(['note message-dropped registrations-limit w1', '-> w1 DISCONNECT sample']);
    broker.advance(500);
    expect(broker.ready('w1')).toContain('worker-ready w1 sample');
  });

  it('rule 19: for one service too many is refused', () => {
    const broker = start({ servicesMax: 1 }, 'w1');
    expect(broker.ready('w2', 'other')).toEqual(['note message-dropped services-limit w2', '-> w2 DISCONNECT other']);
    expect(broker.ready('w2')).toEqual(['worker-ready w2 sample']);
    broker.gone('w1');
    broker.gone('w2');
    expect(broker.ready('w3', 'other')).toContain('worker-ready w3 other');
  });

  it('rule 19: has room although POSTs wait for the greatest number of names', () => {
    const broker = start({ queueForService: true, servicesMax: 2 });
    broker.post('c1', 'u1', 'all', 'one');
    broker.post('c1', 'u2', 'all', 'two');
    expect(broker.ready('w1', 'three')).toEqual(['worker-ready w1 three']);
    expect(broker.ready('w2', 'one')).toContain('worker-ready w2 one');
    expect(broker.ready('w3', 'two')).toEqual(['note message-dropped services-limit w3', '-> w3 DISCONNECT two']);
  });
});

describe('a sign of life', () => {
  const said: [what: string, say: (broker: BrokerUnderTest) => unknown][] = [
    ['KEEPALIVE', (broker) => broker.keepalive('w1')],
    ['RESPONSE', (broker) => broker.answer('w1', 'response', 'c1', 'u1', 200)],
    ['EVENT', (broker) => broker.answer('w1', 'event', 'c1', 'u1', 200)],
    ['READY', (broker) => broker.ready('w1')],
    ['OPEN', (broker) => broker.message('w1', { kind: 'worker-open', form: 'ascii', body: encodeNfpJson({}) })],
  ];

  it.each(said)('rule 6: is %s', (_, say) => {
    const broker = brokerWith('w1');
    broker.advance(14_000);
    say(broker);
    expect(broker.advance(14_999).filter((line) => line.includes('lost'))).toEqual([]);
    expect(broker.advance(1)).toEqual(['29000ms: worker-lost w1 sample expired']);
  });

  it('rule 6: is neither a client’s command under the same routing id nor an invalid message', () => {
    const broker = brokerWith('w1');
    broker.advance(14_000);
    broker.post('w1', 'u1');
    broker.frames('w1', '', 'NFPW01', '0x12', 'sample');
    expect(broker.advance(1000)).toContain('15000ms: worker-lost w1 sample expired');
  });
});

describe('the end of a worker', () => {
  it('rule 7: is its own DISCONNECT, after which it gets nothing', () => {
    const broker = brokerWith('w1');
    expect(broker.disconnect('w1')).toEqual(['worker-lost w1 sample disconnected']);
    expect(broker.advance(60_000)).toEqual([]);
  });

  it.each(['unreachable', 'congested'] as const)('rule 7: is an undeliverable call: %s', (reason) => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'w1');
    expect(broker.undeliverable('w1', reason)).toEqual([
      `worker-lost w1 sample ${reason}`,
      '-> c1 EVENT sample u1 200 worker-lost w1',
    ]);
    expect(broker.stats.workers).toBe(1);
  });

  it('rule 7: is an undeliverable KEEPALIVE', () => {
    const broker = brokerWith('w1');
    broker.advance(2500);
    expect(broker.undeliverable('w1')).toEqual(['worker-lost w1 sample unreachable']);
  });

  it('rule 7: is not an undeliverable answer to it as a client, or an undeliverable DISCONNECT', () => {
    const broker = brokerWith('w1');
    broker.call('w1', 'get', 'u1', 'w2');
    expect(broker.undeliverable('w1')).toEqual(['note answer-dropped unroutable w1 sample']);
    broker.ready('w9', 'all');
    expect(broker.undeliverable('w9')).toEqual([]);
    expect(broker.stats.workers).toBe(1);
  });
});

describe('OPEN', () => {
  it('rule 3: of a registered worker changes its terms at once', () => {
    const broker = brokerWith('w1');
    broker.advance(1000);
    broker.open('w1', 200, 2);
    expect(broker.advance(400)).toEqual(['1200ms: -> w1 KEEPALIVE sample', '1400ms: worker-lost w1 sample expired']);
  });

  it.each([
    [0, 0, 100, 2],
    [1e308, 1e308, 600_000, 20],
    [1000.4, 2.6, 1000, 3],
  ])('rule 3: wishes of %d ms x %d become %d x %d', (interval, multiplier, ...agreed) => {
    const [line] = new BrokerUnderTest().open('w1', interval, multiplier);
    expect(line).toContain(`{"interval":${agreed[0]},"multiplier":${agreed[1]}}`);
  });

  it('rule 3: does not register', () => {
    const broker = new BrokerUnderTest();
    broker.open('w1', 1000, 3);
    expect(broker.post('c1', 'u1').join()).toContain('FAILED');
    expect(broker.keepalive('w1')).toContain('-> w1 DISCONNECT sample');
  });

  it('rule 19: is remembered for 10000 peers that never send READY, the earliest forgotten first', () => {
    const broker = new BrokerUnderTest();
    const body = encodeNfpJson({ name: 'x', version: '1', keepalive: { interval: 1000, multiplier: 2 } });
    for (let i = 0; i <= 10_000; i++) {
      const peer = peerNamed(`w${i}`);
      broker.engine.step({ kind: 'message', peer, command: { kind: 'worker-open', form: 'ascii', body } }, 0);
    }
    broker.ready('w0');
    broker.ready('w1');
    const lost = broker.advance(15_000).filter((line) => line.includes('lost'));
    expect(lost).toEqual(['2000ms: worker-lost w1 sample expired', '15000ms: worker-lost w0 sample expired']);
  });
});

describe('a call', () => {
  it('rule 9: is relayed with the same frames of its body, and so is the answer', () => {
    const { engine } = brokerWith('w1');
    const body = [new Uint8Array(0), Uint8Array.of(0xff, 0), fromLatin1('x')];
    const call = { kind: 'client-call', form: 'ascii', command: 'post', service: 'sample', target: 'w1' } as const;
    const sent = engine.step({ kind: 'message', peer: peerNamed('c1'), command: { ...call, uuid: 'u1', body } }, 0);
    const relayed = sent.flatMap((effect) =>
      effect.kind === 'send' && effect.command.kind === 'worker-call' ? [effect.command.body] : [],
    );
    expect(relayed).toHaveLength(1);
    expect(relayed[0]?.every((frame, i) => frame === body[i])).toBe(true);
    const answer = { kind: 'worker-answer', form: 'ascii', command: 'response', client: fromLatin1('c1') } as const;
    const command = { ...answer, uuid: 'u1', status: 200, statusText: 'OK', body };
    const [effect] = engine.step({ kind: 'message', peer: peerNamed('w1'), command }, 0);
    expect(effect).toMatchObject({ command: { status: 200, statusText: 'OK', service: 'sample' } });
    const passed = effect?.kind === 'send' && effect.command.kind === 'client-answer' ? effect.command.body : [];
    expect(passed.map((frame, i) => frame === body[i])).toEqual([true, true, true]);
  });

  it('rule 10: a worker whose name contains a comma can be addressed by its name', () => {
    const broker = brokerWith('w1', 'w2', 'w1,w2');
    expect(broker.post('c1', 'u1', 'w1,w2').at(-1)).toBe('-> w1,w2 POST c1 u1 {}');
    broker.disconnect('w1,w2');
    expect(broker.post('c1', 'u2', 'w1,w2')).toHaveLength(3);
  });

  it('rule 10: workers are used in turn, starting with the one that came first', () => {
    const broker = brokerWith('w1', 'w2', 'w3');
    const used = ['u1', 'u2', 'u3', 'u4'].map((uuid) => broker.post('c1', uuid, 'any').at(-1)?.slice(3, 5));
    expect(used).toEqual(['w1', 'w2', 'w3', 'w1']);
  });

  it('rule 10: a call for all that only some workers get uses up their turn', () => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'any');
    broker.gone('w1');
    broker.ready('w1');
    // The other one had it before.
    expect(broker.call('c1', 'get', 'u1', 'all')).toHaveLength(2);
    expect(broker.post('c1', 'u2', 'any').at(-1)).toBe('-> w1 POST c1 u2 {}');
    expect(broker.call('c1', 'get', 'u1', 'all').at(-1)).toBe('-> w2 GET c1 u1 {}');
    expect(broker.post('c1', 'u3', 'any').at(-1)).toBe('-> w1 POST c1 u3 {}');
  });

  it('rule 11: to a service that this broker does not offer is refused', () => {
    const broker = start({ queueForService: true }, 'w1');
    expect(broker.post('c1', 'u1', 'all', 'sid.service.broker').at(-1)).toContain('400 FAILED');
  });
});

describe('waiting', () => {
  it('rule 12: is for POST alone', () => {
    const broker = start({ queueForService: true });
    expect(broker.call('c1', 'get', 'u1').at(-1)).toContain('400 FAILED');
  });

  it('rule 12: a DELETE for all goes to the workers present, and the deleted job goes nowhere', () => {
    const broker = brokerWith();
    broker.started();
    broker.ready('w1');
    broker.post('c1', 'u1', 'any');
    for (const uuid of ['u1', 'u0'])
      expect(broker.call('c1', 'delete', uuid)).toEqual([
        `-> c1 RESPONSE sample ${uuid} 202 DISPATCHED ["w1"]`,
        `-> w1 DELETE c1 ${uuid} {}`,
      ]);
    expect(broker.ready('w1')).toEqual([]);
  });

  it('rule 12: is for any name with queueForService true, except that of another service’s worker', () => {
    const broker = start({ queueForService: true }, 'w1');
    broker.ready('x1', 'other');
    expect(broker.post('c1', 'u1', 'x1').at(-1)).toContain('400 FAILED');
    expect(broker.post('c1', 'u2', 'w9')).toEqual([]);
    expect(broker.ready('w9').slice(1)).toEqual([
      '-> c1 RESPONSE sample u2 202 DISPATCHED ["w9"]',
      '-> w9 POST c1 u2 {}',
    ]);
  });

  it('rule 12: jobs are given up a slice at a time, if many have waited too long', () => {
    const broker = new BrokerUnderTest({ queueForService: true, requestTtlMs: 1000, settleMs: 0 });
    for (let index = 0; index < 150; index++) broker.post(`c${index % 30}`, `j${index}`, 'any', 'nobody');
    const expired = [1000, 1, 1].map((ms) => {
      broker.advance(ms);
      return broker.dropped['expired'];
    });
    expect(expired).toEqual([64, 128, 150]);
  });

  it('rule 12: a POST repeated from another address belongs to that address', () => {
    const broker = start({ queueForService: true });
    expect(broker.post('c1', 'u1')).toEqual([]);
    broker.post('c2', 'u1');
    expect(broker.stats.waiting).toBe(1);
    expect(broker.ready('w1').slice(1)).toEqual([
      '-> c2 RESPONSE sample u1 202 DISPATCHED ["w1"]',
      '-> w1 POST c2 u1 {}',
    ]);
  });

  it('rule 12: is not ended by a POST of the same uuid for another service, which is refused', () => {
    const broker = start({ queueForService: true });
    broker.ready('x1', 'other');
    broker.post('c1', 'u1');
    expect(broker.post('c2', 'u1', 'all', 'other').at(-1)).toContain('400 FAILED');
    expect(broker.call('c2', 'get', 'u1', 'all', 'other').at(-1)).toBe('-> x1 GET c2 u1 {}');
    expect(broker.call('c2', 'mmi', 'u1', 'all', 'other')).toEqual(['-> x1 MMI c2 u1 {}']);
    expect(broker.ready('w1').at(-1)).toBe('-> w1 POST c1 u1 {}');
  });

  it('rule 12: PUT and MMI about a waiting job are refused', () => {
    const broker = start({ queueForService: true });
    broker.post('c1', 'u1');
    expect(broker.call('c1', 'put', 'u1')).toEqual(['note message-dropped put-unserved c1']);
    expect(broker.call('c1', 'mmi', 'u1').at(-1)).toContain('400 FAILED');
    expect(broker.stats.waiting).toBe(1);
  });

  it('rule 19: is bounded by requestQueueMax', () => {
    const broker = start({ queueForService: true, requestQueueMax: 1 });
    expect(broker.post('c1', 'u1')).toEqual([]);
    expect(broker.post('c1', 'u2', 'all', 'other').at(-1)).toContain('400 FAILED');
    expect(broker.stats).toMatchObject({ waiting: 1, services: [{ name: 'sample' }] });
  });

  it('rule 19: is bounded by requestQueueMaxBytes', () => {
    const broker = start({ queueForService: true, requestQueueMaxBytes: 1000 });
    expect(broker.post('c1', 'u1')).toEqual([]);
    expect(broker.post('c1', 'u2').at(-1)).toContain('400 FAILED');
    broker.call('c1', 'delete', 'u1');
    expect(broker.stats).toMatchObject({ waiting: 0, keptBytes: 0, services: [] });
  });

  it('rule 19: is bounded by servicesMax', () => {
    const broker = start({ queueForService: true, servicesMax: 1 });
    broker.post('c1', 'u1');
    expect(broker.post('c1', 'u2', 'all', 'other').at(-1)).toContain('400 FAILED');
  });

  it('rule 19: is for no more than a share of the names, and other clients are served', () => {
    const broker = start({ queueForService: true, servicesMax: 200 });
    for (let n = 0; n < 19; n++) expect(broker.post('c1', `u${n}`, 'all', `name${n}`)).toEqual([]);
    expect(broker.post('c1', 'v1', 'all', 'more').at(-1)).toContain('400 FAILED null ["too many services"]');
    expect(broker.post('c1', 'v2', 'all', 'name0')).toEqual([]);
    expect(broker.post('c2', 'v3', 'all', 'more')).toEqual([]);
    expect(broker.post('c1', 'v4', 'all', 'more')).toEqual([]);
    broker.ready('w1', 'name0');
    expect(broker.post('c1', 'v5', 'all', 'another')).toEqual([]);
  });
});

describe('sending again', () => {
  it('rule 13: at most three times', () => {
    const broker = brokerWith('w1', 'w2', 'w3', 'w4', 'w5');
    broker.post('c1', 'u1', 'any');
    for (const worker of ['w1', 'w2', 'w3']) expect(broker.gone(worker)).toHaveLength(4);
    expect(broker.gone('w4').at(-1)).toBe('-> c1 RESPONSE sample u1 400 FAILED null ["4 workers with it were lost"]');
    expect(broker.stats).toMatchObject({ keptBytes: 0, counters: { redispatches: 3 } });
  });

  it('rule 13: not with redispatchAny off', () => {
    const broker = start({ redispatchAny: false }, 'w1', 'w2');
    broker.post('c1', 'u1', 'any');
    broker.gone('w1');
    expect(broker.advance(10_000).filter((line) => line.includes('c1'))).toEqual([
      '10000ms: note call-refused worker-lost c1 sample',
      '10000ms: -> c1 RESPONSE sample u1 408 FAILED w1 ["w1 was lost and did not come back within 10000 ms"]',
    ]);
  });

  it.each(['response', 'event'] as const)('rule 13: not at once after the worker’s %s', (command) => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'any');
    broker.answer('w1', command, 'c1', 'u1', 201);
    expect(broker.gone('w1')).toEqual(['worker-lost w1 sample gone', '-> c1 EVENT sample u1 200 worker-lost w1']);
  });

  it('rule 13: not at once after an answer as in the tables', () => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'any');
    broker.tableAnswer('w1', 'response', 'u1', 201);
    expect(broker.gone('w1')).toEqual(['worker-lost w1 sample gone', '-> c1 EVENT sample u1 200 worker-lost w1']);
  });

  it('rule 13: an answer of another worker about the job does not count', () => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'any');
    broker.answer('w2', 'response', 'c1', 'u1', 404);
    expect(broker.gone('w1').at(-1)).toBe('-> w2 POST c1 u1 {}');
  });

  it('rule 13: workers that are lost together do not get one another’s jobs', () => {
    const broker = brokerWith('w1', 'w2', 'w3');
    broker.post('c1', 'u1', 'any');
    broker.post('c1', 'u2', 'any');
    broker.advance(14_000);
    broker.keepalive('w3');
    expect(broker.advance(1000).filter((line) => line.includes('POST'))).toEqual([
      '15000ms: -> w3 POST c1 u1 {}',
      '15000ms: -> w3 POST c1 u2 {}',
    ]);
  });

  it('rule 13: a worker that repeats READY gets the jobs again that it has said nothing about', () => {
    const broker = brokerWith('w1', 'w2');
    for (const uuid of ['u1', 'u2', 'u3', 'u4', 'u5']) broker.post('c1', uuid, 'any');
    broker.post('c1', 'u6', 'w1');
    broker.answer('w1', 'response', 'c1', 'u1', 201);
    expect(broker.ready('w1')).toEqual([
      '-> c1 RESPONSE sample u3 202 DISPATCHED ["w1"]',
      '-> w1 POST c1 u3 {}',
      '-> c1 RESPONSE sample u5 202 DISPATCHED ["w1"]',
      '-> w1 POST c1 u5 {}',
      '-> w1 POST c1 u6 {}',
    ]);
    for (const uuid of ['u3', 'u5', 'u6']) broker.answer('w1', 'response', 'c1', uuid, 201);
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.stats.counters).toMatchObject({ redispatches: 3, repeatedReadies: 2 });
  });

  it('rule 13: a worker with many jobs that keeps repeating READY gets them at most once a second, the rest with a KEEPALIVE', () => {
    const broker = brokerWith('w1');
    for (let job = 0; job < 17; job++) broker.post('c1', `u${job}`, 'w1');
    const posts = (lines: readonly string[]) => lines.filter((line) => line.includes('POST')).length;
    expect([1, 2, 3].map(() => posts(broker.ready('w1')))).toEqual([17, 0, 0]);
    expect(posts(broker.advance(2499))).toBe(0);
    expect(posts(broker.advance(1))).toBe(17);
    broker.keepalive('w1');
    expect(posts(broker.advance(2500))).toBe(0);
  });

  it('rule 13: at most three times to a worker that keeps repeating READY', () => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'any');
    for (let time = 0; time < 3; time++) expect(broker.ready('w1').at(-1)).toBe('-> w1 POST c1 u1 {}');
    expect(broker.ready('w1')).toEqual([
      expect.stringContaining('call-refused'),
      expect.stringContaining('400 FAILED'),
      '-> w1 DELETE c1 u1 {}',
    ]);
    expect(broker.stats.keptBytes).toBe(0);
  });

  it.each(['w1', 'w2'])(
    'rule 13: about a job that was given up the client gets nothing more, and %s drops it',
    (worker) => {
      const broker = brokerWith('w1', 'w2');
      broker.post('c1', 'u1', 'any');
      broker.answer('w1', 'response', 'c1', 'u1', 201);
      broker.gone('w1');
      broker.advance(10_000);
      broker.answer('w2', 'response', 'c1', 'u1', 201);
      broker.gone('w2');
      expect(broker.advance(600_000).join('\n')).toContain('400 FAILED');
      expect(broker.ready(worker).at(-1)).toBe(`-> ${worker} DELETE c1 u1 {}`);
      expect(broker.answer(worker, 'event', 'c1', 'u1', 200)).toEqual([
        `note answer-dropped superseded ${worker} sample`,
      ]);
      expect(broker.call('c1', 'get', 'u1', worker).join()).toContain('400 FAILED');
    },
  );

  it('rule 13: posted again, not to a worker that must drop it', () => {
    const broker = brokerWith('w1', 'w2', 'w3');
    broker.post('c1', 'u1', 'any');
    broker.gone('w1');
    broker.answer('w2', 'response', 'c1', 'u1', 500);
    expect(broker.ready('w1').at(-1)).toBe('-> w1 DELETE c1 u1 {}');
    for (const worker of ['w3', 'w2', 'w3']) {
      expect(broker.post('c1', 'u1', 'any').at(-1)).toBe(`-> ${worker} POST c1 u1 {}`);
      broker.answer(worker, 'response', 'c1', 'u1', 500);
    }
    expect(broker.answer('w1', 'event', 'c1', 'u1', 200).at(-1)).toContain('superseded');
  });

  it('rule 13: posted again to a worker that was too busy, it is still followed at the others', () => {
    const broker = brokerWith('w1', 'w2', 'w3');
    broker.post('c1', 'u1', '["w1","w2","w4"]');
    broker.answer('w1', 'response', 'c1', 'u1', 500);
    broker.answer('w2', 'response', 'c1', 'u1', 201);
    expect(broker.post('c1', 'u1', '["w1"]')).toEqual([
      '-> c1 RESPONSE sample u1 202 DISPATCHED ["w1"]',
      '-> w1 POST c1 u1 {}',
    ]);
    expect(broker.gone('w2').at(-1)).toBe('-> c1 EVENT sample u1 200 worker-lost w2');
  });

  it('rule 12: a job deleted while it waits for another worker is dropped by the worker before', () => {
    const broker = brokerWith('w1');
    broker.post('c1', 'u1', 'any');
    broker.answer('w1', 'response', 'c1', 'u1', 201);
    broker.gone('w1');
    broker.advance(10_000);
    expect(broker.call('c1', 'delete', 'u1', 'any')).toEqual(['-> c1 RESPONSE sample u1 200 CANCELLED []']);
    expect(broker.ready('w1').at(-1)).toBe('-> w1 DELETE c1 u1 {}');
  });

  it.each(['any', 'w1'])('rule 13: not a job that was deleted meanwhile, at %s', (target) => {
    const broker = brokerWith('w1');
    broker.post('c1', 'u1', 'any');
    expect(broker.call('c1', 'delete', 'u1', target).at(-1)).toBe('-> w1 DELETE c1 u1 {}');
    expect(broker.ready('w1')).toEqual([]);
    expect(broker.stats.keptBytes).toBe(0);
  });

  it('rule 13: not a job that all workers were to delete while its worker was lost', () => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'any');
    broker.answer('w1', 'response', 'c1', 'u1', 201);
    broker.disconnect('w1');
    expect(broker.call('c1', 'delete', 'u1', 'all')[0]).toContain('202 DISPATCHED ["w2","w1"]');
    expect(broker.advance(10_000).filter((line) => line.includes('u1'))).toEqual([]);
    expect(broker.ready('w1').at(-1)).toBe('-> w1 DELETE c1 u1 {}');
  });

  it('rule 13: except a job that was deleted at another worker', () => {
    const broker = brokerWith('w1', 'w2');
    broker.post('c1', 'u1', 'any');
    broker.call('c1', 'delete', 'u1', 'w2');
    expect(broker.gone('w1').at(-1)).toBe('-> w2 POST c1 u1 {}');
  });

  it('rule 13: waits if it may, when the service has no worker left', () => {
    const broker = brokerWith('w1');
    broker.post('c1', 'u1', 'any');
    broker.gone('w1');
    expect(broker.advance(10_000)).toEqual(['10000ms: -> c1 EVENT sample u1 200 redispatched w1']);
    expect(broker.ready('w2').at(-1)).toBe('-> w2 POST c1 u1 {}');
  });

  it('rule 13: a worker that the broker dismisses keeps its jobs if it comes back in time', () => {
    const broker = start({ managementCommands: true }, 'w1', 'w2');
    broker.post('c1', 'u1', 'any');
    expect(broker.mmi('c1', 'disconnect', { workers: ['w1'] }).filter((line) => line.includes('POST'))).toEqual([]);
    expect(broker.ready('w1').at(-1)).toBe('-> w1 POST c1 u1 {}');
  });

  it('rule 19: a job beyond the byte budget is sent once', () => {
    const broker = start({ requestQueueMaxBytes: 100 }, 'w1', 'w2');
    expect(broker.post('c1', 'u1', 'any')).toHaveLength(2);
    expect(broker.gone('w1').at(-1)).toBe(
      '-> c1 RESPONSE sample u1 400 FAILED null ["w1 is lost, and requestQueueMaxBytes left no room to keep the job for another"]',
    );
  });
});

describe('memory', () => {
  it('rule 19: the least recently used jobs go first, together with the route of answers', () => {
    const broker = start({ jobsMax: 2 }, 'w1');
    for (const uuid of ['u1', 'u2']) broker.post('c1', uuid, 'any');
    broker.call('c2', 'get', 'u1');
    broker.post('c1', 'u3');
    expect(broker.stats.jobs).toBe(2);
    expect(broker.tableAnswer('w1', 'response', 'u1', 200)).toEqual(['-> c2 RESPONSE sample u1 200 {}']);
    expect(broker.tableAnswer('w1', 'response', 'u2', 200)).toEqual(['note answer-dropped no-owner w1 sample']);
  });

  it('rule 22: every EVENT goes to subscribers, and to the client it is for', () => {
    const broker = start({ publish: 'tcp://sim:1' }, 'w1');
    broker.post('c1', 'u1');
    expect(broker.answer('w1', 'event', 'c1', 'u1', 200)).toEqual([
      'publish sample w1 u1 200 {}',
      '-> c1 EVENT sample u1 200 {}',
    ]);
    expect(broker.tableAnswer('w1', 'event', 'u1', 200)).toEqual([
      'publish sample w1 u1 200 {}',
      '-> c1 EVENT sample u1 200 {}',
    ]);
    expect(broker.answer('w1', 'response', 'c1', 'u1', 200)).toEqual(['-> c1 RESPONSE sample u1 200 {}']);
    expect(broker.stats.counters.eventsPublished).toBe(2);
  });

  it('rule 22: an EVENT whose uuid is not a job goes to subscribers only', () => {
    const broker = start({ publish: 'tcp://sim:1' }, 'w1');
    expect(broker.tableAnswer('w1', 'event', 'topic', 200)).toEqual(['publish sample w1 topic 200 {}']);
    expect(broker.tableAnswer('w1', 'stream', 'topic', 200)).toEqual(['note answer-dropped no-owner w1 sample']);
    expect(broker.dropped).toEqual({ 'no-owner': 1 });
  });

  it('rule 22: without subscribers, an EVENT whose uuid is not a job is dropped', () => {
    const broker = start({}, 'w1');
    expect(broker.tableAnswer('w1', 'event', 'topic', 200)).toEqual(['note answer-dropped no-owner w1 sample']);
  });

  it('rule 19: the least recently seen clients go first, and are then answered in the form of every release', () => {
    const broker = start({ clientsMax: 1 }, 'w1');
    broker.frames('c1', '', 'NFPC01', '\x04', 'sample', 'all', 'u1', '{}');
    broker.post('c2', 'u2');
    expect(broker.stats.clients).toBe(1);
    expect(broker.answer('w1', 'response', 'c1', 'u1', 201)).toEqual(['-> c1 RESPONSE sample u1 201 {}']);
  });

  it('rule 19: a client that was idle for an hour is forgotten', () => {
    const broker = new BrokerUnderTest();
    broker.post('c1', 'u1');
    broker.advance(3_600_001);
    broker.post('c2', 'u2');
    expect(broker.stats.clients).toBe(1);
  });

  it('rule 19: a POST for a new service leaves nothing behind', () => {
    const broker = new BrokerUnderTest();
    for (let i = 0; i < 100; i++) broker.post('c1', `u${i}`, 'all', `service ${i}`);
    expect(broker.stats).toMatchObject({ services: [], jobs: 0, keptBytes: 0 });
  });
});

describe('bad input', () => {
  it.each(['too-many-frames', 'too-large', 'no-frames'] as const)(
    'rule 16: %s is counted, and costs nothing',
    (reason) => {
      const broker = brokerWith('w1');
      expect(broker.rejected('w1', reason)).toEqual([`note message-dropped ${reason} w1`]);
      expect(broker.dropped).toEqual({ [reason]: 1 });
      expect(broker.stats.workers).toBe(1);
    },
  );

  it('rule 16: a uuid over the limit is answered with what a uuid may be', () => {
    const broker = new BrokerUnderTest();
    const [note, line] = broker.frames('c1', '', 'NFPC01', '0x04', 'sample', 'all', 'u'.repeat(300), '{}');
    expect(note).toBe('note message-dropped uuid c1');
    expect(line).toContain(` ${'u'.repeat(255)} 400 FAILED`);
  });

  it.each([
    ['', ''],
    ['not JSON', 'hello'],
    ['an array', '[]'],
    ['no task', '{"kwargs":{}}'],
    ['kwargs of a wrong type', '{"task":"show_broker","kwargs":[]}'],
    ['endless', `{"task":"${'x'.repeat(70_000)}"}`],
    ['deep', '['.repeat(60_000)],
  ])('rule 16: a body that is %s is not a task', (_, body) => {
    const broker = new BrokerUnderTest();
    const lines = broker.call('c1', 'mmi', 'u1', 'all', 'mmi.service.broker', body);
    expect(lines.at(-1)).toContain('400 FAILED');
  });

  it('rule 17: show_broker reports settings and sizes, and no secrets', () => {
    const broker = brokerWith('w1');
    const [line] = broker.mmi('c1', 'show_broker');
    expect(JSON.parse(line?.slice(line.indexOf('{')) ?? '')).toMatchObject({
      endpoint: 'tcp://sim:5555',
      status: 'active',
      keepalives: { interval: 2500, multiplier: 6 },
      'workers count': 1,
      'services count': 1,
    });
  });

  it('rule 17: a long list comes in parts, and is kept for a moment', () => {
    const broker = new BrokerUnderTest();
    for (let index = 0; index < 5001; index++) {
      const command = { kind: 'worker-ready', form: 'ascii', service: 'sample' } as const;
      broker.engine.step({ kind: 'message', peer: peerNamed(`w${index}`), command }, broker.now);
    }
    const show = (kwargs: object = {}) => {
      const line = broker.mmi('c1', 'show_workers', kwargs)[0] ?? '';
      return JSON.parse(line.slice(line.indexOf('[{'))) as { name: string; more?: number }[];
    };
    const rows = show();
    expect([rows.length, rows.at(-1)]).toEqual([5001, { name: '', service: '', status: '', more: 1 }]);
    expect(show({ skip: 5000 })).toMatchObject([{ name: 'w5000' }]);
    expect(show({ skip: 'x' })).toHaveLength(5001);
    broker.ready('w5001');
    expect(show().at(-1)?.more).toBe(1);
    broker.advance(500);
    expect(show().at(-1)?.more).toBe(2);
  });

  it('rule 17: a long body of a call to the broker itself is returned, that of any other call is passed on', () => {
    const broker = new BrokerUnderTest();
    broker.ready('w1');
    broker.mmi('c1', 'show_broker', { x: 'x'.repeat(20_000) });
    broker.mmi('c1', 'show_broker');
    broker.call('c1', 'get', 'u1', 'w1', 'sample', 'x'.repeat(20_000));
    expect(broker.returned).toEqual([20_050]);
  });

  it('rule 17: show_workers and show_services have one empty row if there is none', () => {
    const broker = new BrokerUnderTest();
    expect(broker.mmi('c1', 'show_workers')[0]).toContain('[{"name":"","service":"","status":""}]');
    expect(broker.mmi('c1', 'show_services')[0]).toContain('"workers alive":0');
    broker.ready('w1');
    expect(broker.mmi('c1', 'show_workers', { status: 'dead' })[0]).toContain('[{"name":"","service":"","status":""}]');
  });

  it.each(['restart', 'shutdown', 'disconnect'])('rule 18: %s is refused by default', (task) => {
    const broker = brokerWith('w1');
    expect(broker.mmi('c1', task).at(-1)).toContain(`management command '${task}' is not enabled`);
    expect(broker.stats.workers).toBe(1);
  });
});

describe('time', () => {
  it('rule 5: a silent worker expires at its deadline, however late others speak', () => {
    const broker = brokerWith('w1', 'w2');
    broker.advance(10_000);
    broker.keepalive('w2');
    expect(broker.advance(5000).filter((line) => line.includes('lost'))).toEqual([
      '15000ms: worker-lost w1 sample expired',
    ]);
  });

  it('rule 5: KEEPALIVEs of many workers are sent together, at most 32 times per interval, and never more than an interval apart', () => {
    const broker = start({ keepaliveIntervalMs: 3200, keepaliveMultiplier: 20 });
    const last = new Map<string, number>();
    for (let i = 0; i < 320; i++) {
      broker.ready(`w${i}`);
      last.set(`w${i}`, broker.now);
      for (const line of broker.advance(10)) beat(line, last);
    }
    const wakes = new Set<number>();
    for (const line of broker.advance(9600)) wakes.add(beat(line, last));
    expect(wakes.size).toBeLessThanOrEqual(3 * 32 + 1);
  });

  function beat(line: string, last: Map<string, number>): number {
    const [, at = '', worker = ''] = /^(\d+)ms: -> (\w+) KEEPALIVE sample$/.exec(line) ?? [];
    const gap = Number(at) - (last.get(worker) ?? NaN);
    expect(gap).toBeLessThanOrEqual(3200);
    expect(gap).toBeGreaterThanOrEqual(3100);
    last.set(worker, Number(at));
    return Number(at);
  }

  it('rule 5: a broker that was late lets no worker expire before it has listened for as long', () => {
    const broker = brokerWith('w1');
    broker.stall(20_000);
    expect(broker.stats.workers).toBe(1);
    expect(broker.advance(17_499).filter((line) => line.includes('lost'))).toEqual([]);
    expect(broker.advance(1)).toContain('37500ms: worker-lost w1 sample expired');
  });
});
