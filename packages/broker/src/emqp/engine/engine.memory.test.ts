import { describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';
import { peerNamed } from '../../../test/keyed.js';
import { RESERVE_BYTES } from '../../shared/budget.js';

const part = (text: string): Uint8Array => {
  const memory = new Uint8Array(8192);
  memory.set(Buffer.from(text), 4000);
  return memory.subarray(4000, 4000 + text.length);
};

describe('rule 15: memory', () => {
  it.each(['', 'guarantee'])('of requests that are kept is what they take and not what they came in: %s', (headers) => {
    const broker = new BrokerUnderTest({ queueMaxBytes: 2 ** 20, maxMessageBytes: 2 ** 20 });
    const { engine } = broker;
    const before = engine.heldBytes;
    const sent: string[] = [];
    const held: number[] = [];
    broker.inform('w1');
    for (let index = 0; index < 100; index++) {
      const body = part(`${index}`.padEnd(200, '.'));
      const command = { kind: 'request', id: `r${index}`, queue: 'default', headers: part(headers), body } as const;
      engine.step({ kind: 'message', port: 'frontend', peer: peerNamed('c1'), command }, 0);
    }
    engine.assertInvariants();
    expect(engine.heldBytes - before).toBeLessThan(100 * 2200 + 8192);
    for (let index = 0; index < 100; index++)
      for (const effect of engine.step(
        { kind: 'message', port: 'backend', peer: peerNamed('w1'), command: { kind: 'ready', id: `y${index}` } },
        0,
      )) {
        if (effect.kind !== 'send' || effect.command.kind !== 'request') continue;
        sent.push(Buffer.from(effect.command.body).toString().replaceAll('.', ''));
        held.push(effect.command.body.buffer.byteLength);
      }
    engine.assertInvariants();
    expect(sent).toEqual(Array.from({ length: 100 }, (_, index) => `${index}`));
    expect(held.filter((bytes) => bytes > 400).length).toBeLessThan(4);
  });

  it('is short: a long request that would have to wait is refused, a short one or one that a worker takes at once is not', () => {
    const long = 'x'.repeat(RESERVE_BYTES);
    const broker = new BrokerUnderTest();
    broker.inform('w1');
    broker.say('w1', 'READY', 'y1');
    broker.step({ kind: 'memory', isTight: true });
    expect(broker.request('c1', 'r1', 'default', '', long).some((line) => line.includes('w1'))).toBe(true);
    broker.request('c1', 'r2');
    expect(broker.dropped).toEqual({});
    broker.request('c1', 'r3', 'default', '', long);
    expect(broker.dropped).toEqual({ memory: 1 });
    broker.step({ kind: 'memory', isTight: false });
    broker.request('c1', 'r4', 'default', '', long);
    expect(broker.dropped).toEqual({ memory: 1 });
  });

  it('is short: jobs that will be tried again fill the reserve once, and no more', () => {
    const third = 'x'.repeat(RESERVE_BYTES / 3);
    const broker = new BrokerUnderTest();
    broker.inform('w1');
    broker.step({ kind: 'memory', isTight: true });
    for (let index = 0; index < 10; index++) broker.request('c1', `r${index}`, 'default', 'retry-count:1', third);
    expect(broker.dropped).toEqual({ memory: 8 });
  });
});
