import { beforeEach, describe, expect, it } from 'vitest';
import { peerNamed, QueueUnderTest } from '../../test/queue-under-test.js';

let queue: QueueUnderTest;
beforeEach(() => {
  queue = new QueueUnderTest();
});

describe('rule 19: drain', () => {
  it('rule 19: ends at once if there is nothing to do, and sends nothing more', () => {
    queue.produce('p', 'a', 'x');
    queue.block();
    expect(queue.step({ kind: 'drain' })).toEqual(['drained']);
    expect(queue.produce('p', 'b', 'x')).toEqual([]);
    expect(queue.engine.deadline).toBe(Infinity);
  });

  it('rule 19: refuses new messages, writes those that have arrived', () => {
    queue.storeHeld = true;
    for (const id of ['a', 'b']) queue.produce('p', id, 'x');
    expect(queue.step({ kind: 'drain' })).toEqual([]);
    expect(queue.produce('q', 'c', 'x')[0]).toBe('-> q "c" 0 Server is shutting down');
    expect(queue.answerStore(1)).toEqual(['-> p "a" 1']);
    expect(queue.answerStore()).toEqual(['-> p "b" 1', 'drained']);
  });

  it('rule 19: delivers nothing more, waits for messages with consumers, and writes their answers', () => {
    for (const n of ['1', '2', '3']) queue.produce('p', n, n);
    queue.accept(2);
    queue.block();
    expect(queue.step({ kind: 'drain' })).toEqual([]);
    queue.room = 5;
    expect(queue.ack(1)).toEqual([]);
    expect(queue.nack(2)).toEqual(['drained']);
    expect([queue.delivered, [...queue.store.rows.keys()]]).toEqual([
      ['1', '2'],
      [2, 3],
    ]);
  });

  it('rule 19: waits for the outcome of an open offer', () => {
    queue.produce('p', 'a', 'x');
    expect(queue.step({ kind: 'drain' })).toEqual([]);
    expect(queue.block()).toEqual(['drained']);
  });

  it('rule 19: takes at most drainMs, whatever consumers and store do', () => {
    for (const n of ['1', '2']) queue.produce('p', n, n);
    queue.accept(2);
    queue.storeHeld = true;
    queue.produce('p', 'a', 'x');
    queue.produce('p', 'b', 'x');
    queue.step({ kind: 'drain' });
    queue.extend(1);
    expect(queue.advance(1999)).toEqual([]);
    expect(queue.advance(1)).toEqual([
      '2000ms: -> p "b" 0 Server is shutting down',
      '2000ms: note message-refused draining p',
      '2000ms: drained',
    ]);
  });

  it('rule 19: a request for dead letters that was not written is answered', () => {
    queue.storeHeld = true;
    queue.step({ kind: 'revive', id: 1, seqs: [5] });
    queue.step({ kind: 'revive', id: 2, seqs: [6] });
    queue.step({ kind: 'drain' });
    expect(queue.advance(2000).sort()).toEqual(['2000ms: done 1 CLOSED', '2000ms: done 2 CLOSED', '2000ms: drained']);
  });

  it('rule 19: a failing store is retried until the time is over', () => {
    queue.produce('p', 'a', 'x');
    queue.accept(1);
    queue.store.failing = 'EIO';
    queue.ack(1);
    queue.step({ kind: 'drain' });
    queue.advance(500);
    queue.store.failing = undefined;
    expect(queue.advance(100)).toEqual(['600ms: resumed', '600ms: drained']);
    expect(queue.store.rows.size).toBe(0);
  });
});

describe('rule 22: monitor', () => {
  const ask = () => queue.step({ kind: 'monitor', peer: peerNamed('m'), command: { kind: 'monitor-request' } }).join();

  it("rule 22: answers the original's lines first, in its order, then ours", () => {
    for (const n of ['1', '2', '3']) queue.produce('p', n, 'x'.repeat(7));
    queue.accept(2);
    queue.ack(1);
    expect(ask()).toContain('inflight_db_size: 7');
    queue.advance(1500);
    expect(ask().split('\n')).toEqual([
      '-> m messages: 2',
      'messages_inflight: 0',
      'db_size: 4096',
      'inflight_db_size: 0',
      'syncs: 4',
      'expired_messages: 1',
      'messages_in_flight: 0',
      'in_flightdb_size: 0',
      'ready_messages: 2',
      'delayed_messages: 0',
      'dead_messages: 0',
      'stored_total: 3',
      'refused_total: 0',
      'acked_total: 1',
      'nacked_total: 0',
      'redelivered_total: 0',
      'deduplicated_total: 0',
      'ttl_expired_total: 0',
      'producer_acks_pending: 0',
      'store: lmdb',
      'store_state: ok',
      'uptime_seconds: 1',
      'version: 1.2.3',
    ]);
  });

  it('rule 22: any other request is not answered, but counted', () => {
    const peer = peerNamed('m');
    const lines = queue.step({ kind: 'monitor', peer, command: { kind: 'malformed', reason: 'monitor-unknown' } });
    expect(lines).toEqual(['note message-dropped monitor-unknown monitor m']);
    expect(queue.dropped).toEqual({ 'monitor-unknown': 1 });
  });

  it('rule 22: reports that the store refuses', () => {
    queue.store.failing = 'ENOSPC';
    queue.produce('p', 'a', 'x');
    expect(ask()).toContain('store_state: refusing');
    expect(ask()).toContain('refused_total: 1');
  });
});

it('rule 18: a message that a socket dropped for its size is counted', () => {
  queue.step({ kind: 'rejected', socket: 'receive', peer: peerNamed('p'), reason: 'too-large' });
  expect(queue.dropped).toEqual({ 'too-large': 1 });
});
