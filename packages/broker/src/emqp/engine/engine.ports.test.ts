/**
 * Rules 23 to 26 and 28 to 30: versions, spellings, arbitrary bytes, who may stop the broker, and what an admin sees.
 */
import { latin1 } from '@proj/frames';
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/emqp/broker-under-test.js';
import { peerNamed } from '../../../test/keyed.js';

let broker: BrokerUnderTest;
beforeEach(() => {
  broker = new BrokerUnderTest();
});

describe('what is understood', () => {
  it.each(['eMQP/1.0', 'eMQP/1.1', 'eMQP/1.x'])('rule 23: version %s is served', (version) => {
    expect(broker.frames('w1', '', version, 'INFORM', 'i', '', 'worker')).toContain('-> w1 ACK i');
  });

  it.each(['eMQP/2.0', 'foo', '\xff'])('rule 23: version %j is refused', (version) => {
    expect(broker.frames('w1', '', version, 'INFORM', 'i', '', 'worker')).toEqual(['note message-dropped version w1']);
  });

  it('rule 24: commands in lower case are understood on every port', () => {
    expect(broker.say('w1', 'inform', 'i', '', 'worker')).toContain('-> w1 ACK i');
    expect(broker.say('c1', 'request', 'm1', 'default', '', 'x')).toEqual(['-> c1 ACCEPTED m1']);
    expect(broker.admin('a1', 'status')).toHaveLength(1);
  });

  it('rule 25: identities and bodies are any bytes', () => {
    const id = 'w\0\xff\xc3(';
    broker.say(id, 'INFORM', 'i', '', 'worker');
    broker.say(id, 'READY', '\0');
    expect(broker.request('\xff\0', '\xfe', 'default', 'reply-requested', '\x80')).toEqual([
      '-> \xff\0 ACCEPTED \xfe',
      `-> ${id} REQUEST \xfe default`,
    ]);
    expect(broker.reply(id, '\xfe', '\xff')).toEqual(['-> \xff\0 RESULT \xfe \xff']);
  });

  it('rule 25: identities that are equal in UTF-8 stay distinct', () => {
    broker.say('w\xff', 'INFORM', 'i', '', 'worker');
    broker.say('w\xfe', 'INFORM', 'i', '', 'worker');
    expect(broker.stats.workers).toBe(2);
  });
});

describe('DISCONNECT', () => {
  it.each(['c1', 'w1', 's1'])('rule 26: from %s does not stop the broker', (name) => {
    broker.inform('w1');
    broker.scheduler('s1');
    expect(broker.say(name, 'DISCONNECT', 'd1')).toEqual([`note message-dropped disconnect-refused ${name}`]);
    expect(broker.request('c1', 'm1')).toEqual(['-> c1 ACCEPTED m1']);
    expect(broker.stats).toMatchObject({ workers: 1, schedulers: 1 });
  });

  it('rule 26: from any peer stops the broker with allowClientDisconnect', () => {
    broker = new BrokerUnderTest({ allowClientDisconnect: true });
    expect(broker.say('c1', 'DISCONNECT', 'd1')).toEqual(['-> c1 ACK d1', 'drained']);
  });

  it('rule 26: from an admin stops the broker', () => {
    expect(broker.admin('a1', 'DISCONNECT')).toEqual(['-> a1 ACK admin:1', 'drained']);
  });
});

describe('administration', () => {
  it.each(['STATUS', 'ROUTER_SHOW_WORKERS', 'ROUTER_SHOW_SCHEDULERS', 'DISCONNECT'])(
    'rule 28: %s is answered, with and without a trailing empty frame',
    (word) => {
      expect(broker.admin('a1', word)[0]).toMatch(/^-> a1 /);
      broker = new BrokerUnderTest();
      expect(broker.admin('a1', word, '')[0]).toMatch(/^-> a1 /);
    },
  );

  it('rule 28: HELLO has no answer', () => {
    expect(broker.admin('a1', 'HELLO')).toEqual([]);
    expect(broker.dropped).toEqual({});
  });

  it.each(['NONSENSE', 'REQUEST', 'INFORM'])('rule 28: %s has no answer either, and is counted', (word) => {
    expect(broker.admin('a1', word)).toEqual([expect.stringMatching(/^note message-dropped [a-z-]+ a1$/)]);
  });

  it('rule 29: STATUS of a broker that has done nothing', () => {
    expect(broker.admin('a1', 'STATUS')).toEqual([
      '-> a1 {"inflight_messages_by_queue": {}, "latency_messages_by_queue": {}, "max_latency_messages_by_queue": {}, ' +
        '"waiting_messages_by_queue": {}, "processed_messages_by_queue": {}, "processed_messages_by_worker": {}}',
    ]);
  });

  it('rule 29: STATUS counts waiting, running and finished jobs, and measures from REQUEST to REPLY', () => {
    broker.inform('w1');
    broker.ready('w1', 3);
    broker.request('c1', 'm1', 'default', 'reply-requested');
    broker.request('c1', 'm2', 'default', 'reply-requested');
    broker.request('c1', 'm3');
    broker.request('c1', 'm4');
    broker.now = 40.4;
    broker.reply('w1', 'm1');
    broker.now = 60;
    broker.request('c1', 'm5');
    expect(broker.admin('a1', 'STATUS')).toEqual([
      '-> a1 {"inflight_messages_by_queue": {"default": 2}, "latency_messages_by_queue": {"default": 40}, ' +
        '"max_latency_messages_by_queue": {"default": 40}, "waiting_messages_by_queue": {"default": 2}, ' +
        '"processed_messages_by_queue": {"default": 1}, "processed_messages_by_worker": {"w1": 1}}',
    ]);
  });

  it('rule 29: in-flight does not leak for jobs without reply, nor for dropped ones', () => {
    broker.inform('w1');
    broker.ready('w1', 2);
    broker.request('c1', 'm1');
    broker.request('c1', 'm2');
    broker.ready('w1');
    broker.bye('w1');
    expect(broker.admin('a1', 'STATUS')[0]).toContain('{"inflight_messages_by_queue": {}, ');
  });

  it('rule 29: totals outlive the queue’s workers', () => {
    broker.inform('w1', 'mail');
    broker.ready('w1');
    broker.request('c1', 'm1', 'mail');
    broker.ready('w1');
    broker.bye('w1');
    expect(broker.stats.queues).toEqual([]);
    expect(broker.admin('a1', 'STATUS')[0]).toContain('"processed_messages_by_queue": {"mail": 1}');
    broker.inform('w2', 'mail');
    broker.ready('w2');
    broker.request('c1', 'm2', 'mail');
    broker.ready('w2');
    expect(broker.admin('a1', 'STATUS')[0]).toContain('"processed_messages_by_queue": {"mail": 2}');
  });

  it('rule 30: ROUTER_SHOW_WORKERS reports queues, last sign of life and slots', () => {
    broker.inform('w1', 'low:1', '\xc3\xa9:2.5');
    broker.inform('w2', 'low:7');
    broker.now = 1234;
    broker.ready('w2', 2);
    expect(broker.admin('a1', 'ROUTER_SHOW_WORKERS')).toEqual([
      '-> a1 {"connected_workers": {' +
        '"w1": {"queues": [[2.5, "\\u00e9"], [1, "low"]], "hb": 0, "available_slots": 0}, ' +
        '"w2": {"queues": [[7, "low"]], "hb": 1.234, "available_slots": 2}}, ' +
        '"connected_queues": {"low": [[1, "w1"], [7, "w2"]], "\\u00e9": [[2.5, "w1"]]}}',
    ]);
  });

  it('rule 30: counts what one answer has no room for, and caches the answer for a moment', () => {
    for (let index = 0; index < 11; index++)
      broker.inform(`w${index}`, ...Array.from({ length: 500 }, (_, queue) => `q${index}-${queue}:1`));
    const shown = () =>
      JSON.parse(broker.admin('a1', 'ROUTER_SHOW_WORKERS')[0]?.slice(6) ?? '') as Record<
        string,
        Record<string, unknown>
      >;
    const { connected_workers: workers = {}, connected_queues: queues = {}, not_shown: rest } = shown();
    expect([Object.keys(workers).length, Object.keys(queues).length]).toEqual([10, 5000]);
    expect(rest).toEqual({ connected_workers: 1, connected_queues: 500 });
    broker.inform('w11', 'q:1');
    expect(shown()['not_shown']).toEqual(rest);
    broker.now += 500;
    expect(shown()['not_shown']).toEqual({ connected_workers: 2, connected_queues: 501 });
  });

  it('rule 30: whoever asks for a cached answer gets the same bytes', () => {
    for (let index = 0; index < 500; index++) broker.inform(`w${index}`, 'q:1');
    const ask = (name: string) => {
      const command = { kind: 'show-workers', id: 'x' } as const;
      const [effect] = broker.engine.step({ kind: 'admin', peer: peerNamed(name), command }, broker.now);
      if (effect?.kind !== 'send' || effect.command.kind !== 'admin-reply') throw new Error('no answer');
      return effect.command;
    };
    const [first, second] = [ask('a1'), ask('a2')];
    expect(latin1(first.encoded ?? new Uint8Array())).toBe(first.json);
    expect(second.encoded).toBe(first.encoded);
  });

  it('rule 30: ROUTER_SHOW_SCHEDULERS reports the last sign of life', () => {
    broker.now = 500;
    broker.scheduler('s1');
    expect(broker.admin('a1', 'ROUTER_SHOW_SCHEDULERS')).toEqual([
      '-> a1 {"connected_schedulers": {"s1": {"hb": 0.5}}}',
    ]);
  });

  it('rule 30: an id that is not printable UTF-8 is shown in hex', () => {
    broker.scheduler('\0ABC');
    broker.scheduler('\xff');
    broker.scheduler('\xc3\xa9');
    broker.scheduler('\xef\xbf\xbd');
    broker.scheduler('\xc2\x85');
    expect(broker.admin('a1', 'ROUTER_SHOW_SCHEDULERS')).toEqual([
      '-> a1 {"connected_schedulers": {"hex:00414243": {"hb": 0}, "hex:ff": {"hb": 0}, "\\u00e9": {"hb": 0}, ' +
        '"\\ufffd": {"hb": 0}, "hex:c285": {"hb": 0}}}',
    ]);
  });
});
