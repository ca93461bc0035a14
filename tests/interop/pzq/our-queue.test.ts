// Our queue and Python peers: every row of the malformed-input table, odd acknowledgements, dead consumers, the monitor
// (sections 1, 3 and 7 of docs/protocols/pzq.md).
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PeerProcess } from '@proj/testkit';
import { describe, expect, it } from 'vitest';
import { toHex } from '../test-peers.js';
import { stage } from './stage.js';

const theater = stage();

const NO_DELIMITER = 'Malformed message, no delimiter found or missing message parts';
const NO_BODY = 'Trying to save empty message';

/** A message, its answer (null for stored, undefined for nothing), and the body if it is stored. */
type Row = [what: string, frames: string[], reason: string | null | undefined, body?: string[]];

const ROWS: Row[] = [
  ['one frame', ['one'], undefined],
  ['one blank frame', [''], undefined],
  ['no blank', ['m1', 'body'], NO_DELIMITER],
  ['no blank in three frames', ['m2', 'h', 'body'], NO_DELIMITER],
  ['a blank and no body', ['m3', ''], NO_BODY],
  ['headers, a blank and no body', ['m4', 'h', ''], NO_BODY],
  ['nothing but blanks: an empty id and no body', ['', ''], NO_BODY],
  ['an empty id', ['', '', 'of nobody'], null, ['of nobody']],
  ['a binary id', ['\0\x01\xfe', '', 'binary'], null, ['binary']],
  ['an id', ['twice', '', 'first'], null, ['first']],
  ['the same id', ['twice', '', 'second'], null, ['second']],
  ['one blank body frame', ['m5', '', ''], null, ['']],
  ['blank frames in the body', ['m6', '', '', 'x', '', 'y', ''], null, ['', 'x', '', 'y', '']],
  ['headers, which are dropped', ['m7', 'H1:a', 'H2:b', '', 'x'], null, ['x']],
  ['the header of a replica, which is dropped', ['m8', 'REPLICA:tcp://x:1', '', 'x'], null, ['x']],
  ['our headers, which this queue does not read', ['m9', 'PZQ-DELAY-MS:x', '', 'x'], null, ['x']],
  ['a body that is too large', ['m10', '', 'x'.repeat(1025)], 'Message is too large'],
  ['too many parts', ['m11', '', ...Array<string>(9).fill('p')], 'Too many message parts'],
];

describe('PZQ: our queue and Python producers', () => {
  it('rules 1, 3 and 5: answers each row of the table, in order, and delivers stored messages', async () => {
    const { receive, send } = await theater.queue({ maxMessageBytes: 1024, maxParts: 8 });
    const producer = theater.pythonProducer(receive);
    for (const [, frames] of ROWS) producer.send(...frames.map((frame) => Buffer.from(frame, 'latin1')));
    producer.send('end', '', 'the end');
    const answered = ROWS.filter(([, , reason]) => reason !== undefined).map(([, [id], reason]) => [id, reason]);
    expect(await producer.answersUntil('end')).toEqual([...answered, ['end', null]]);
    const stored = ROWS.flatMap(([, , , body]) => (body === undefined ? [] : [body]));
    const taken = await theater.takeBy('python', send, stored.length + 1);
    expect(taken.map((body) => body.map(String))).toEqual([...stored, ['the end']]);
  });

  it('rules 5 and 18: refuses messages over its limits and accepts the next one once there is room', async () => {
    const { receive, send } = await theater.queue({ maxMessages: 2 });
    const producer = theater.pythonProducer(receive);
    for (const id of ['1', '2', '3']) producer.send(id, '', id);
    expect(await producer.answersUntil('3')).toEqual([
      ['1', null],
      ['2', null],
      ['3', 'Queue is full (messages)'],
    ]);
    await theater.takeBy('python', send, 2);
    // Deletion is not announced: a producer tries again.
    for (let id = 4; ; id++) {
      producer.send(`${id}`, '', 'again');
      if ((await producer.answersUntil(`${id}`)).at(-1)?.[1] === null) break;
    }
  });

  it('rule 6: with a dedupe window, a repeated id is acknowledged but not stored', async () => {
    const { queue, receive, send } = await theater.queue({ dedupeWindowMs: 600_000 });
    const producer = theater.pythonProducer(receive);
    producer.send('same', '', 'once');
    producer.send('same', '', 'once');
    producer.send('end', '', 'end');
    expect((await producer.answersUntil('end')).map(([, reason]) => reason)).toEqual([null, null, null]);
    expect((await theater.takeBy('python', send, 2)).map(String)).toEqual(['once', 'end']);
    expect(queue.stats().counters.deduplicated).toBe(1);
  });

  it('stores from a REQ socket, whose empty frame counts as the id', async () => {
    const { receive, send } = await theater.queue();
    const producer = theater.pythonProducer(receive);
    // What a REQ sends for a blank and a body.
    producer.send('', '', 'from a REQ');
    expect(await producer.answersUntil('')).toEqual([['', null]]);
    expect((await theater.takeBy('python', send, 1)).map(String)).toEqual(['from a REQ']);
  });
});

/** A Python consumer that holds the only message of a queue. */
async function held(receive: string, send: string) {
  await theater.storeBy('python', receive, [[Buffer.from('x')]]);
  const consumer = theater.pythonConsumer(send, 'hold');
  const { key } = await consumer.delivery();
  return { consumer, key };
}

/** What the monitor socket reports, by name. */
async function figures(asker: PeerProcess): Promise<Record<string, string>> {
  const replied = asker.next('reply');
  asker.tell({ do: 'ask', frames: toHex([Buffer.from('MONITOR')]) });
  const lines = ((await replied)['text'] as string).split('\n');
  expect(lines.pop()).toBe('');
  return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
}

/** Asks until the queue holds this many messages, because the end of an acknowledgement is not announced. */
async function holding(monitor: string, messages: number): Promise<void> {
  const asker = theater.pythonMonitor(monitor, 'req');
  while ((await figures(asker))['messages'] !== `${messages}`);
}

describe('PZQ: our queue and Python consumers', () => {
  it('rules 11, 12 and 14: any status but 1 returns the message at once, under its key; 1, with or without more frames, deletes it', async () => {
    const { receive, send, monitor } = await theater.queue();
    const { consumer, key } = await held(receive, send);
    for (const status of ['0', '01', 'OK', '', '\0', '1\n', '\x01']) {
      consumer.say(key, status);
      expect(await consumer.delivery()).toMatchObject({ key, body: [Buffer.from('x')] });
    }
    consumer.say(key, '1', 'extra', '');
    await holding(monitor, 0);
  });

  it('rule 15: unknown keys, and keys alone, change nothing', async () => {
    const { receive, send, monitor } = await theater.queue();
    const { consumer, key } = await held(receive, send);
    const other = key.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    for (const unknown of ['nonexistent-key', other, key.toUpperCase(), `0${key.slice(1)}`, `${key}0`, '', '\xff'])
      consumer.say(Buffer.from(unknown, 'latin1'), '1');
    consumer.say(key);
    consumer.say(key, '0');
    expect(await consumer.delivery()).toMatchObject({ key });
    consumer.say(key, '1');
    consumer.say(key, '1');
    await holding(monitor, 0);
  });

  it('rule 15: any consumer may acknowledge any key', async () => {
    const { receive, send, monitor } = await theater.queue();
    const { consumer, key } = await held(receive, send);
    const other = theater.pythonConsumer(send, 'hold');
    // A connection is not announced: messages go round, so it is connected when it has one.
    const producer = theater.producer({ endpoints: [receive] });
    const known = [false];
    void other.process.line('delivery').then(() => (known[0] = true));
    let stored = 1;
    for (; known.includes(false); stored++) await producer.send('y');
    other.say(key, '1');
    await holding(monitor, stored - 1);
    expect(consumer.process.lines('delivery', { key })).toHaveLength(1);
  });

  it('rule 12: the sent time is that of each delivery, the timeout is in microseconds, and a message comes back after it', async () => {
    const { queue, receive, send } = await theater.queue({ ackTimeoutMs: 250 });
    await theater.storeBy('python', receive, [[Buffer.from('x')]]);
    const consumer = theater.pythonConsumer(send, 'hold');
    const [first, second, third] = [await consumer.delivery(), await consumer.delivery(), await consumer.delivery()];
    expect([first.timeout, second.key, third.key]).toEqual([250_000, first.key, first.key]);
    expect(second.sent).toBeGreaterThan(first.sent);
    expect(third.sent).toBeGreaterThan(second.sent);
    expect(queue.stats().counters.timedOut).toBeGreaterThanOrEqual(2);
  });

  it('rule 12: messages that a killed consumer held go to another one, keys unchanged', async () => {
    const { receive, send } = await theater.queue({ ackTimeoutMs: 1000 });
    await theater.storeBy('python', receive, [[Buffer.from('x')]]);
    const dying = theater.pythonConsumer(send, 'hold');
    const { key } = await dying.delivery();
    dying.process.kill('SIGKILL');
    await dying.process.exit;
    expect(await theater.pythonConsumer(send).delivery()).toMatchObject({ key });
  });

  it('rule 16: messages go round the connected consumers', async () => {
    const { receive, send } = await theater.queue();
    const consumers = [theater.pythonConsumer(send), theater.pythonConsumer(send)];
    const producer = theater.producer({ endpoints: [receive] });
    const has = consumers.map(() => false);
    consumers.forEach(({ process }, index) => {
      void process.line('delivery').then(() => (has[index] = true));
    });
    // The second connection is not announced: it exists when it has a message.
    while (has.includes(false)) await producer.send('x');
  });

  it('rule 24: our consumer and a Python one share a queue; nothing is lost or duplicated', async () => {
    const { receive, send, monitor } = await theater.queue();
    const python = theater.pythonConsumer(send);
    const seen: string[] = [];
    const ours = theater.consumer({ endpoints: [send], prefetch: 8 });
    const run = ours.run(({ body }) => void seen.push(body.toString()), { concurrency: 4 });
    const bodies = Array.from({ length: 2000 }, (_, number) => [Buffer.from(`${number}`)]);
    await theater.storeBy('ours', receive, bodies);
    await holding(monitor, 0);
    await Promise.all([ours.drain(), run]);
    // Acknowledged is not read here yet.
    if (seen.length < bodies.length) await python.process.line('delivery', {}, bodies.length - seen.length);
    const theirs = python.process
      .lines('delivery')
      .map(({ body }) => Buffer.from((body as string[])[0]!, 'hex').toString());
    expect([...seen, ...theirs].toSorted((a, b) => Number(a) - Number(b))).toEqual(bodies.map(String));
  });

  it('rule 20: after a restart all unacknowledged messages are delivered at once, keys unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pzq-interop-'));
    theater.keep({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) });
    const store = `lmdb:${folder}`;
    const first = await theater.queue({ store });
    const { key } = await held(first.receive, first.send);
    await first.queue.close();
    const second = await theater.queue({ store });
    expect(await theater.pythonConsumer(second.send).delivery()).toMatchObject({ key, body: [Buffer.from('x')] });
  });
});

describe('PZQ: our monitor socket', () => {
  it('rule 22: answers MONITOR of a REQ with the lines of the original first', async () => {
    const { monitor } = await theater.queue();
    const names = Object.keys(await figures(theater.pythonMonitor(monitor, 'req')));
    const original = ['messages', 'messages_inflight', 'db_size', 'inflight_db_size', 'syncs', 'expired_messages'];
    expect(names.slice(0, 8)).toEqual([...original, 'messages_in_flight', 'in_flightdb_size']);
    expect(names).toContain('uptime_seconds');
  });

  it('rule 22: answers a DEALER whose last frame is MONITOR, blank or not, and nothing else', async () => {
    const { queue, monitor } = await theater.queue();
    const asker = theater.pythonMonitor(monitor, 'dealer');
    for (const frames of [
      ['', 'monitor'],
      ['', ''],
      ['STATUS'],
      ['MONITOR', ''],
      ['MONITOR'],
      ['x', 'MONITOR'],
      ['', 'MONITOR'],
    ])
      asker.tell({ do: 'ask', frames: toHex(frames.map((frame) => Buffer.from(frame))) });
    await asker.line('reply', {}, 3);
    expect(queue.stats().counters.dropped['monitor-unknown']).toBe(4);
  });
});
