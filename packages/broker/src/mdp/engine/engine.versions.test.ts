import { describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';

describe('rule 1: both versions on one socket', () => {
  it.each(['0.1', '0.2'] as const)('rule 1: a %s client is answered in its version', (version) => {
    const broker = new BrokerUnderTest();
    broker.ready('w1', 'echo', version);
    const mark = version === '0.1' ? '0.1 ' : '';
    expect(broker.request('c1', 'hello', 'echo', version)).toEqual([`-> w1 ${mark}REQUEST c1 "hello"`]);
    expect(broker.final('w1', 'c1', 'done', version)).toEqual([`-> c1 ${mark}FINAL echo "done"`]);
  });

  it.each(['0.1', '0.2'] as const)('rule 1: a %s stranger gets DISCONNECT in its version', (version) => {
    const broker = new BrokerUnderTest();
    expect(broker.heartbeat('w1', version)[1]).toBe(version === '0.1' ? '-> w1 0.1 DISCONNECT' : '-> w1 DISCONNECT');
  });
});

describe('rule 2: services per version', () => {
  it('rule 2: a 0.1 client is never served by a 0.2 worker', () => {
    const broker = new BrokerUnderTest();
    broker.ready('w1', 'echo', '0.2');
    expect(broker.request('c1', 'hello', 'echo', '0.1')).toEqual([]);
    expect(broker.ready('w2', 'echo', '0.1')).toContain('-> w2 0.1 REQUEST c1 "hello"');
  });

  it('rule 2: a 0.2 client is never served by a 0.1 worker', () => {
    const broker = new BrokerUnderTest();
    broker.ready('w1', 'echo', '0.1');
    expect(broker.request('c1', 'hello', 'echo', '0.2')).toEqual([]);
  });

  it('rule 2: bridge lets a 0.1 worker serve a 0.2 client; REPLY becomes FINAL', () => {
    const broker = new BrokerUnderTest({ bridge: true });
    broker.ready('w1', 'echo', '0.1');
    expect(broker.request('c1', 'hello', 'echo', '0.2')).toEqual(['-> w1 0.1 REQUEST c1 "hello"']);
    expect(broker.final('w1', 'c1', 'done', '0.1')).toEqual(['-> c1 FINAL echo "done"']);
  });

  it('rule 2: bridge gives a 0.1 client the parts of a 0.2 worker in order, as one REPLY', () => {
    const broker = new BrokerUnderTest({ bridge: true });
    broker.ready('w1', 'echo', '0.2');
    broker.request('c1', 'hello', 'echo', '0.1');
    expect(broker.partial('w1', 'c1', '1')).toEqual([]);
    expect(broker.partial('w1', 'c1', '2')).toEqual([]);
    expect(broker.final('w1', 'c1', '3')).toEqual(['-> c1 0.1 FINAL echo "1" "2" "3"']);
    expect(broker.stats.openBytes).toBe(0);
  });

  it('rule 2: bridge puts both versions in one queue', () => {
    const broker = new BrokerUnderTest({ bridge: true });
    broker.request('c1', '1', 'echo', '0.1');
    broker.request('c2', '2', 'echo', '0.2');
    broker.ready('w1', 'echo', '0.1');
    expect(broker.final('w1', 'c1', 'a', '0.1')).toEqual(['-> c1 0.1 FINAL echo "a"', '-> w1 0.1 REQUEST c2 "2"']);
    expect(broker.stats.services).toEqual([{ name: 'echo', version: 'both', workers: 1, busy: 1, waiting: 0 }]);
  });

  it('rule 2: parts that were kept do not prevent a resend, and are not mixed with the new ones', () => {
    const broker = new BrokerUnderTest({ bridge: true });
    broker.ready('w1');
    broker.ready('w2');
    broker.request('c1', 'hello', 'echo', '0.1');
    broker.partial('w1', 'c1', 'old');
    expect(broker.gone('w1')).toContain('-> w2 REQUEST c1 "hello"');
    broker.partial('w2', 'c1', 'new');
    expect(broker.final('w2', 'c1', 'end')).toEqual(['-> c1 0.1 FINAL echo "new" "end"']);
  });

  it.each([
    ['frames', { maxMessageFrames: 8 }, '', 9],
    ['bytes', { maxMessageBytes: 1024 }, 'x'.repeat(500), 3],
    ['budget', { maxMessageBytes: 2048, requestQueueMaxBytes: 2048 }, 'x'.repeat(500), 3],
  ])('rule 2: parts over a limit of %s are dropped, counted, and free the worker', (_limit, options, part, parts) => {
    const broker = new BrokerUnderTest({ bridge: true, ...options });
    broker.ready('w1');
    broker.request('c1', 'hello', 'echo', '0.1');
    for (let i = 0; i < parts; i++) broker.partial('w1', 'c1', part);
    expect(broker.final('w1', 'c1', part)).toEqual(['note reply-dropped reply-too-large c1 echo']);
    expect(broker.stats).toMatchObject({ openRequests: 0, openBytes: 0 });
    expect(broker.request('c1', 'next', 'echo', '0.1')).toEqual(['-> w1 REQUEST c1 "next"']);
  });
});

describe('rule 3: 0.2 behind an empty frame', () => {
  it('rule 3: is not understood by default', () => {
    const broker = new BrokerUnderTest();
    expect(broker.frames('w1', '', 'MDPW02', '\x01', 'echo')).toEqual(['note message-dropped leading-empty w1']);
  });

  it('rule 3: with acceptLeadingEmpty a worker is served the same way', () => {
    const broker = new BrokerUnderTest({ acceptLeadingEmpty: true });
    expect(broker.frames('w1', '', 'MDPW02', '\x01', 'echo')).toEqual(['worker-ready w1 echo']);
    expect(broker.request('c1', 'hello')).toEqual(['-> w1 behind-empty REQUEST c1 "hello"']);
    expect(broker.advance(2500)).toEqual(['2500ms: -> w1 behind-empty HEARTBEAT']);
    expect(broker.final('w1', 'c1', 'done', 'behind-empty')).toEqual(['-> c1 FINAL echo "done"']);
    expect(broker.ready('w1')).toContain('-> w1 behind-empty DISCONNECT');
  });

  it('rule 3: with acceptLeadingEmpty a client is answered the same way', () => {
    const broker = new BrokerUnderTest({ acceptLeadingEmpty: true });
    broker.ready('w1');
    broker.frames('c1', '', 'MDPC02', '\x01', 'echo', 'hello');
    expect(broker.partial('w1', 'c1', 'half')).toEqual(['-> c1 behind-empty PARTIAL echo "half"']);
    expect(broker.final('w1', 'c1', 'done')).toEqual(['-> c1 behind-empty FINAL echo "done"']);
  });

  it('rule 3: with acceptLeadingEmpty a stranger gets DISCONNECT the same way', () => {
    const broker = new BrokerUnderTest({ acceptLeadingEmpty: true });
    expect(broker.frames('w1', '', 'MDPW02', '\x05')).toContain('-> w1 behind-empty DISCONNECT');
  });

  it('rule 3: with acceptLeadingEmpty plain peers get plain answers', () => {
    const broker = new BrokerUnderTest({ acceptLeadingEmpty: true });
    broker.ready('w1');
    expect(broker.request('c1', 'hello')).toEqual(['-> w1 REQUEST c1 "hello"']);
  });
});
