import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

describe('rule 30: dismissed workers', () => {
  it('rule 30: are sent DISCONNECT, and their job goes to another', () => {
    broker.ready('w1');
    broker.request('c1', 'hello');
    broker.ready('w2');
    expect(broker.step({ kind: 'dismiss', worker: 'w1', isGraceful: false })).toEqual([
      '-> w1 DISCONNECT',
      'worker-lost w1 echo dismissed',
      '-> w2 REQUEST c1 "hello"',
    ]);
  });

  it('rule 30: finish their job first if they are drained, and get no other', () => {
    broker.ready('w1');
    broker.request('c1', 'one');
    broker.request('c2', 'two');
    expect(broker.step({ kind: 'dismiss', worker: 'w1', isGraceful: true })).toEqual([]);
    expect(broker.final('w1', 'c1', 'done')).toEqual([
      '-> c1 FINAL echo "done"',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo dismissed',
    ]);
    expect(broker.ready('w2')).toContain('-> w2 REQUEST c2 "two"');
  });

  it('rule 30: are all workers of a service, and no others', () => {
    broker.ready('w1');
    broker.ready('w2', 'sum');
    broker.ready('w3');
    expect(broker.step({ kind: 'dismiss', service: 'echo', isGraceful: true })).toEqual([
      '-> w1 DISCONNECT',
      'worker-lost w1 echo dismissed',
      '-> w3 DISCONNECT',
      'worker-lost w3 echo dismissed',
    ]);
    expect(broker.step({ kind: 'dismiss', worker: 'w1', isGraceful: false })).toEqual([]);
  });

  it('rule 30: of a service of 0.1 kept apart are named with its version', () => {
    broker.ready('w1');
    broker.ready('w2', 'echo', '0.1');
    expect(broker.step({ kind: 'dismiss', service: 'echo (0.1)', isGraceful: false })).toEqual([
      '-> w2 0.1 DISCONNECT',
      'worker-lost w2 echo dismissed',
    ]);
    expect(broker.engine.detail(broker.now).workers).toMatchObject([{ id: 'w1', services: ['echo'] }]);
  });

  it('rule 30: are named in hex if their routing id is not text', () => {
    broker.ready('w1');
    expect(broker.step({ kind: 'dismiss', worker: Buffer.from('w1').toString('hex'), isGraceful: false })).toContain(
      '-> w1 DISCONNECT',
    );
  });
});
