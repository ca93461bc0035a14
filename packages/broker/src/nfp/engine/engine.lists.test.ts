/** Facts about POSTs that name absent workers (rule 12) that `scenarios/24-lists.txt` does not show. */
import { decodeNfpDispatch } from '@proj/frames/nfp';
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/nfp/broker-under-test.js';

const TTL_MS = 20_000;
const UNKNOWN = 'no worker of the service, and has not been one lately';

let broker: BrokerUnderTest;

/** The target in the broker's last message to a client. */
function targetTold(client: string): string | undefined {
  const sent = broker.lastSentTo(client);
  return sent?.kind === 'client-answer' ? decodeNfpDispatch(sent.body)?.target : undefined;
}

beforeEach(() => {
  broker = new BrokerUnderTest({ requestTtlMs: TTL_MS, keepaliveIntervalMs: 60_000 });
  for (const worker of ['w1', 'w2', 'w3']) broker.ready(worker);
  for (const worker of ['w1', 'w3']) broker.disconnect(worker);
});

describe('POSTs of one uuid for several names', () => {
  it('rule 12: have one 202 that also names the workers waited for', () => {
    expect(broker.post('c1', 'u1', '["w1","w8"]')).toEqual([]);
    expect(broker.post('c1', 'u1', '["w2","w9"]')).toEqual([
      `-> c1 RESPONSE sample u1 202 DISPATCHED ["w1","w2"] ["w8: ${UNKNOWN}","w9: ${UNKNOWN}"]`,
      '-> w2 POST c1 u1 {}',
    ]);
    expect(targetTold('c1')).toBe('["w1","w8","w2","w9"]');
    expect(broker.ready('w1').slice(1)).toEqual(['-> w1 POST c1 u1 {}']);
  });

  it('rule 12: are named in the 202 to a POST for all, if waited for', () => {
    broker.post('c1', 'u1', 'w1');
    expect(broker.post('c1', 'u1', 'all')).toEqual([
      '-> c1 RESPONSE sample u1 202 DISPATCHED ["w1","w2"]',
      '-> w2 POST c1 u1 {}',
    ]);
    expect(targetTold('c1')).toBe('all');
  });

  it('rule 12: have a 202 each, at once, when a worker has been sent the job', () => {
    broker.post('c1', 'u1', 'w2');
    expect(broker.post('c1', 'u1', 'w1')).toEqual(['-> c1 RESPONSE sample u1 202 DISPATCHED ["w1"]']);
    expect(broker.post('c1', 'u1', '["w3","w9"]')).toEqual([
      `-> c1 RESPONSE sample u1 202 DISPATCHED ["w3"] ["w9: ${UNKNOWN}"]`,
    ]);
    expect(broker.ready('w1').slice(1)).toEqual(['-> w1 POST c1 u1 {}']);
    expect(broker.advance(TTL_MS).at(-1)).toBe(
      `${TTL_MS}ms: -> c1 RESPONSE sample u1 408 FAILED w3 ["w3 did not come within ${TTL_MS} ms"]`,
    );
  });

  it('rule 12: are not refused for names that are already waited for', () => {
    broker = new BrokerUnderTest({ settleMs: 1000 });
    broker.started();
    broker.post('c1', 'u1', 'w1');
    broker.advance(1000);
    broker.ready('w2');
    expect(broker.post('c1', 'u2', 'w1').at(-1)).toContain('400 FAILED');
    expect(broker.post('c1', 'u1', 'w1')).toEqual([]);
    expect(broker.post('c1', 'u1', '["w1","w2"]')[0]).toBe('-> c1 RESPONSE sample u1 202 DISPATCHED ["w1","w2"]');
  });

  it('rule 13: are not refused for a worker that was sent the job and may come back', () => {
    broker = new BrokerUnderTest({ queueForService: false });
    broker.ready('w1');
    broker.post('c1', 'u1', 'w1');
    broker.disconnect('w1');
    expect(broker.post('c1', 'u2', 'w1').at(-1)).toContain('400 FAILED');
    expect(broker.post('c1', 'u1', 'w1')).toEqual(['-> c1 RESPONSE sample u1 202 DISPATCHED ["w1"]']);
    expect(broker.ready('w1').slice(1)).toEqual(['-> w1 POST c1 u1 {}']);
  });
});

it('rule 12: the 400 for a list of which no worker has come says what is wrong with each name', () => {
  broker.post('c1', 'u1', '["w1","w9"]');
  expect(broker.advance(TTL_MS).at(-1)).toBe(
    `${TTL_MS}ms: -> c1 RESPONSE sample u1 400 FAILED null ["w1 did not come within ${TTL_MS} ms","w9: ${UNKNOWN}"]`,
  );
});
