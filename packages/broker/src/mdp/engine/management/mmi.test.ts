import { latin1 } from '@proj/frames';
import type { MdpVersion } from '@proj/frames/mdp';
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../../test/mdp/broker-under-test.js';
import { peerNamed } from '../../../../test/keyed.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

/** The frames of the answer, as text. */
function ask(service: string, argument: string | readonly string[], version: MdpVersion = '0.2'): string[] {
  const body = [argument].flat().map((text) => Uint8Array.from(text, (char) => char.charCodeAt(0)));
  const [effect] = broker.engine.step(
    { kind: 'message', peer: peerNamed('asker'), command: { kind: 'client-request', version, service, body } },
    broker.now,
  );
  broker.engine.assertInvariants();
  if (effect?.kind !== 'send' || effect.command.kind !== 'client-final') throw new Error('no answer');
  expect(effect.command).toMatchObject({ version, service });
  return effect.command.body.map(latin1);
}

describe('rule 25: mmi.service', () => {
  it('rule 25: is 404 for a service without workers', () => {
    expect(ask('mmi.service', 'echo')).toEqual(['404']);
  });

  it('rule 25: is 200 for a service with an idle worker', () => {
    broker.ready('w1');
    expect(ask('mmi.service', 'echo')).toEqual(['200']);
  });

  it('rule 25: is 200 for a service with a busy worker', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    expect(ask('mmi.service', 'echo')).toEqual(['200']);
  });

  it('rule 25: is 404 from the moment the last worker is gone, waiting requests or not', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.gone('w1');
    expect(ask('mmi.service', 'echo')).toEqual(['404']);
  });

  it('rule 25: reads the first body frame and ignores the others', () => {
    broker.ready('w1');
    expect(ask('mmi.service', ['echo', 'nobody'])).toEqual(['200']);
    expect(ask('mmi.service', ['nobody', 'echo'])).toEqual(['404']);
  });

  it.each(['', 'x'.repeat(256), '\xff\x00'])('rule 25: is 404 for an argument that is not a name', (argument) => {
    expect(ask('mmi.service', argument)).toEqual(['404']);
  });

  it('rule 25: searches the services of the client’s version', () => {
    broker.ready('w1', 'echo', '0.1');
    expect(ask('mmi.service', 'echo', '0.2')).toEqual(['404']);
    expect(ask('mmi.service', 'echo', '0.1')).toEqual(['200']);
  });

  it('rule 29: is 200 for a service inside the broker, in either version, busy or not', () => {
    broker.serve('echo');
    broker.request('c1', 'hello');
    expect([ask('mmi.service', 'echo', '0.2'), ask('mmi.service', 'echo', '0.1')]).toEqual([['200'], ['200']]);
    broker.ownFinal(1, 'done');
    broker.withdraw(1);
    expect(ask('mmi.service', 'echo')).toEqual(['404']);
  });

  it('rule 25: searches the services of both versions with bridge', () => {
    broker = new BrokerUnderTest({ bridge: true });
    broker.ready('w1', 'echo', '0.1');
    expect(ask('mmi.service', 'echo', '0.2')).toEqual(['200']);
  });
});

describe('rule 26: other names under mmi.', () => {
  it.each(['mmi.', 'mmi.unknown', 'mmi.servicex', 'mmi.Service'])('rule 26: %s is 501', (service) => {
    expect(ask(service, 'echo')).toEqual(['501']);
  });

  it('rule 26: a name that only resembles the prefix is an ordinary service', () => {
    expect(broker.request('c1', 'x', 'mmi')).toEqual([]);
    expect(broker.request('c1', 'x', 'MMI.service')).toEqual([]);
  });

  it('rule 26: mmi.services lists the services of both versions', () => {
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', '1');
    broker.ready('w3', 'old', '0.1');
    broker.request('c1', '2', 'nobody');
    const [code, json] = ask('mmi.services', '');
    expect(code).toBe('200');
    expect(JSON.parse(json ?? '')).toEqual([
      { name: 'echo', version: '0.2', workers: 2, busy: 1, waiting: 0, requests: 1 },
      { name: 'nobody', version: '0.2', workers: 0, busy: 0, waiting: 1, requests: 1 },
      { name: 'old', version: '0.1', workers: 1, busy: 0, waiting: 0, requests: 0 },
    ]);
  });

  it('rule 26: mmi.services counts the requests of a service, also those that have ended', () => {
    broker.ready('w1');
    broker.request('c1', '1');
    broker.request('c1', '2');
    broker.final('w1', 'c1', 'done');
    expect(JSON.parse(ask('mmi.services', '')[1] ?? '')).toMatchObject([{ requests: 2, busy: 1, waiting: 0 }]);
  });

  it('rule 26: mmi.services lists a joined service once, in the client’s version', () => {
    broker = new BrokerUnderTest({ bridge: true });
    broker.ready('w1', 'echo', '0.1');
    broker.ready('w2', 'echo', '0.2');
    const entry = { name: 'echo', workers: 2, busy: 0, waiting: 0, requests: 0 };
    expect(JSON.parse(ask('mmi.services', '', '0.1')[1] ?? '')).toEqual([{ ...entry, version: '0.1' }]);
    expect(JSON.parse(ask('mmi.services', '', '0.2')[1] ?? '')).toEqual([{ ...entry, version: '0.2' }]);
  });

  it('rule 26: mmi.workers lists the workers of a service', () => {
    broker.ready('w1');
    broker.ready('w2', 'other');
    broker.advance(1200);
    broker.request('c1', 'x');
    const [code, json] = ask('mmi.workers', 'echo');
    expect(code).toBe('200');
    expect(JSON.parse(json ?? '')).toEqual([
      { id: '7731', service: 'echo', version: '0.2', busy: true, lastSeenMs: 1200 },
    ]);
  });

  it('rule 29: the listings show services inside the broker, as workers without an id', () => {
    broker.serve('echo', 2, ['0.2']);
    broker.ready('w1', 'other');
    broker.request('c1', 'x');
    expect(JSON.parse(ask('mmi.services', '')[1] ?? '')).toEqual([
      { name: 'echo', version: '0.2', workers: 2, busy: 1, waiting: 0, requests: 1 },
      { name: 'other', version: '0.2', workers: 1, busy: 0, waiting: 0, requests: 0 },
    ]);
    const entry = { id: '', service: 'echo', version: '0.2', lastSeenMs: 0 };
    expect(JSON.parse(ask('mmi.workers', 'echo')[1] ?? '')).toEqual([
      { ...entry, busy: true },
      { ...entry, busy: false },
    ]);
    expect(JSON.parse(ask('mmi.workers', '')[1] ?? '')).toHaveLength(3);
  });

  it('rule 29: a listing of many handlers is cut, counted and cached like one of many workers', () => {
    for (let i = 1; i <= 3; i++) broker.serve(`s${i}`, 1000);
    const [, json = '', more] = ask('mmi.workers', '');
    expect([(JSON.parse(json) as unknown[]).length, more]).toEqual([5000, '1000']);
    expect(JSON.parse(ask('mmi.workers', ['', '5000'])[1] ?? '')).toHaveLength(1000);
    broker.withdraw(1);
    expect(ask('mmi.workers', '')[2]).toBe('1000');
    broker.advance(500);
    expect(ask('mmi.workers', '')).toHaveLength(2);
  });

  it('rule 29: a joined service inside the broker is listed in the client’s version', () => {
    broker = new BrokerUnderTest({ bridge: true });
    broker.serve('echo');
    expect(JSON.parse(ask('mmi.workers', 'echo', '0.1')[1] ?? '')).toMatchObject([{ version: '0.1' }]);
  });

  it('rule 26: mmi.workers lists all workers for an empty argument', () => {
    expect(ask('mmi.workers', '')).toEqual(['200', '[]']);
    broker.ready('w1');
    broker.ready('w2', 'other', '0.1');
    expect(JSON.parse(ask('mmi.workers', '')[1] ?? '')).toHaveLength(2);
  });

  it('rule 26: mmi.workers is 404 for a service without workers', () => {
    broker.request('c1', 'x');
    expect(ask('mmi.workers', 'echo')).toEqual(['404']);
    expect(ask('mmi.workers', 'x'.repeat(300))).toEqual(['404']);
  });

  it('rule 26: a long listing comes in parts, and is cached for a moment', () => {
    for (let index = 0; index < 5002; index++) {
      const command = { kind: 'worker-ready', version: '0.2', service: `s${index}` } as const;
      broker.engine.step({ kind: 'message', peer: peerNamed(`w${index}`), command }, broker.now);
    }
    const [, first = '', more] = ask('mmi.services', '');
    expect([(JSON.parse(first) as unknown[]).length, more]).toEqual([5000, '2']);
    expect(JSON.parse(ask('mmi.services', ['', '5000'])[1] ?? '')).toMatchObject([
      { name: 's5000' },
      { name: 's5001' },
    ]);
    expect(ask('mmi.services', ['', '5002'])).toEqual(['200', '[]']);
    expect(ask('mmi.workers', ['s7', '0'])).toHaveLength(2);
    broker.gone('w0');
    expect(ask('mmi.services', '')[2]).toBe('2');
    broker.advance(500);
    expect(ask('mmi.services', '')[2]).toBe('1');
    expect(ask('mmi.workers', '')[2]).toBe('1');
  });

  it('rule 26: the additions are 501 without mmiAdditions', () => {
    broker = new BrokerUnderTest({ mmiAdditions: false });
    expect([ask('mmi.services', ''), ask('mmi.workers', '')]).toEqual([['501'], ['501']]);
  });
});

describe('rule 27: MMI leaves no trace', () => {
  it('rule 27: in queues, services, limits or counters of requests', () => {
    broker = new BrokerUnderTest({ clientRequestsMax: 1, servicesMax: 1, requestQueueMax: 1 });
    broker.request('asker', 'x');
    ask('mmi.service', 'echo');
    ask('mmi.other', 'echo');
    expect(broker.stats).toMatchObject({ openRequests: 1, services: [{ name: 'echo' }] });
    expect(broker.stats.counters).toMatchObject({ requests: 1, mmi: 2 });
  });
});
