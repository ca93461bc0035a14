import { describe, expect, it } from 'vitest';
import { peerNamed } from '../../../test/keyed.js';
import { BrokerUnderTest } from '../../../test/nfp/broker-under-test.js';

const part = (fill: number, length = 200): Uint8Array => new Uint8Array(8192).fill(fill).subarray(4000, 4000 + length);

describe('rule 11: memory', () => {
  // As text, or as a frame.
  it.each([
    [200, 8192],
    [300, 600],
  ])('counts the bytes of waiting POSTs of %i bytes, not the buffers they came in', (length, most) => {
    const broker = new BrokerUnderTest({
      queueForService: true,
      requestQueueMaxBytes: 2 ** 20,
      maxMessageBytes: 2 ** 20,
    });
    const { engine } = broker;
    const before = engine.heldBytes;
    const blocks = new Set<ArrayBufferLike>();
    for (let index = 0; index < 100; index++) {
      const body = part(index, length);
      blocks.add(body.buffer);
      const command = {
        kind: 'client-call',
        form: 'byte',
        command: 'post',
        service: 'sample',
        target: 'any',
        uuid: `u${index}`,
        body: [body],
      } as const;
      engine.step({ kind: 'message', peer: peerNamed('c1'), command }, 0);
    }
    engine.assertInvariants();
    expect(engine.heldBytes - before).toBeLessThan(100 * 2500 + 16_384);
    const sent: Uint8Array[] = [];
    const ready = { kind: 'worker-ready', form: 'ascii', service: 'sample' } as const;
    const effects = [...engine.step({ kind: 'message', peer: peerNamed('w1'), command: ready }, 0)];
    // The jobs go a slice at a time.
    for (let now = 1; now < 10; now++) effects.push(...engine.step({ kind: 'timer', lateMs: 0 }, now));
    for (const effect of effects)
      if (effect.kind === 'send' && 'body' in effect.command && effect.command.kind === 'worker-call')
        sent.push(...effect.command.body);
    engine.assertInvariants();
    expect(sent.map(([first]) => first)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(sent.filter(({ buffer }) => blocks.has(buffer) || buffer.byteLength > most).length).toBeLessThan(4);
  });

  it('is short: a POST that would have to wait is refused, one for a worker that is present is not', () => {
    const broker = new BrokerUnderTest({ queueForService: true });
    broker.step({ kind: 'memory', isTight: true });
    expect(broker.call('c1', 'post', 'u1', 'any').join()).toMatch(/too (many|much)/i);
    expect(broker.dropped).toEqual({ 'queue-full': 1 });
    broker.ready('w1');
    broker.call('c1', 'post', 'u2', 'any');
    expect(broker.dropped).toEqual({ 'queue-full': 1 });
    broker.step({ kind: 'memory', isTight: false });
  });
});

it('rule 11: without room, a 202 names a few of the workers that a job for all does not wait for, and all of a list', () => {
  const broker = new BrokerUnderTest({ queueForService: true, returnMs: 60_000 });
  const names = Array.from({ length: 41 }, (_, index) => `w${index}`);
  for (const name of names) broker.ready(name);
  for (const name of names.slice(1)) broker.gone(name);
  broker.step({ kind: 'memory', isTight: true });
  const told = (target: string): readonly string[] => {
    const [line = ''] = broker
      .call('c1', 'post', `job for ${target.slice(0, 3)}`, target)
      .filter((text) => text.includes(' 202 '));
    return line.match(/[^"]+: too much/g) ?? [];
  };
  expect(told('all')).toEqual([...names.slice(1, 17).map((name) => `${name}: too much`), 'and others: too much']);
  expect(told(JSON.stringify(names))).toHaveLength(40);
});

describe('rule 19: workers that jobs wait for', () => {
  const NAMES = Array.from({ length: 20 }, (_, index) => `w${index}`);
  const LIST = JSON.stringify(NAMES);
  const waiting = (broker: BrokerUnderTest) => (broker.engine.heldBytes - broker.engine.stats().jobs * 1024) / 256;

  it('are bounded, jobs together: what is too much is refused, and a client cannot have all', () => {
    const broker = new BrokerUnderTest({ queueForService: true, jobsMax: 100, requestQueueMax: 1000 });
    // Four times as many as jobs may be remembered; the first client gets three quarters.
    for (let count = 0; count < 30; count++) broker.call('c1', 'post', `u${count}`, LIST);
    const one = broker.engine.stats().jobs;
    expect(one).toBeGreaterThan(10);
    expect(one).toBeLessThan(17);
    for (let count = 0; count < 30; count++) broker.call('c2', 'post', `v${count}`, LIST);
    expect(broker.engine.stats().jobs).toBeGreaterThan(one);
    expect(broker.engine.stats().jobs).toBeLessThan(22);
    expect(broker.dropped['queue-full']).toBeGreaterThan(35);
    expect(waiting(broker)).toBeLessThan(1000);
  });

  it('expire a slice at a time', () => {
    const broker = new BrokerUnderTest({ queueForService: true, requestTtlMs: 1000 });
    for (let count = 0; count < 10; count++) broker.call('c1', 'post', `u${count}`, LIST);
    const steps: number[] = [];
    for (let now = 1000; broker.engine.stats().jobs > 0 && now < 1010; now++) {
      broker.advance(now - broker.now);
      steps.push(broker.engine.stats().jobs);
    }
    expect(steps).toEqual([6, 2, 0]);
  });
});
