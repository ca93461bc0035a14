import { describe, expect, it } from 'vitest';
import { fromHex, LIBZMQ, EngineRecorder, wire } from '../test/recorder.js';

const NULL_GREETING = `ff00000000000000007f03014e554c4c${'00'.repeat(48)}`;
const GREETING_3_0 = LIBZMQ.greeting.replace('0301', '0300');
const READY_ROUTER = '041c0552454144590b536f636b65742d5479706500000006524f55544552';
const ping = (ttl: string, context = '') =>
  `04${(7 + context.length / 2).toString(16).padStart(2, '0')}0450494e47${ttl}${context}`;

describe('the greeting', () => {
  it('is sent at once: version 3.1, mechanism NULL, no server, the rest zero', () => {
    expect(new EngineRecorder().output()).toBe(NULL_GREETING);
  });

  it('is answered with READY and the socket type once it is complete', () => {
    const recorder = new EngineRecorder();
    recorder.output();
    recorder.receive(LIBZMQ.greeting.slice(0, 126));
    expect(recorder.output()).toBe('');
    recorder.receive(LIBZMQ.greeting.slice(126));
    expect(recorder.output()).toBe(READY_ROUTER);
  });

  it('announces the routing id', () => {
    const recorder = new EngineRecorder({ socketType: 'DEALER', identity: Buffer.from('worker-7') });
    recorder.receive(LIBZMQ.greeting);
    expect(recorder.output()).toBe(NULL_GREETING + LIBZMQ.ready);
  });

  it.each([
    ['another protocol, from its first byte', '47', 'not-zmtp'],
    ['another signature, from its last byte', 'ff000000000000000100', 'not-zmtp'],
    ['ZMTP 2.0, from the version', 'ff00000000000000017f02', 'version'],
    ['another mechanism', LIBZMQ.greeting.replace('4e554c4c00', '504c41494e'), 'mechanism'],
    ['a mechanism that only begins like ours', LIBZMQ.greeting.replace('4e554c4c00', '4e554c4c32'), 'mechanism'],
  ])('fails for %s', (_, hex, code) => {
    expect(new EngineRecorder().receive(hex).story).toEqual([`failed ${code}`]);
  });

  it.each([
    ['of ZMTP 3.0', GREETING_3_0],
    ['of a later version', LIBZMQ.greeting.replace('0301', '0407')],
    ['with any padding and filler', `ff${'a5'.repeat(8)}7f03014e554c4c${'00'.repeat(16)}01${'a5'.repeat(31)}`],
  ])('is fine %s', (_, greeting) => {
    expect(new EngineRecorder().receive(greeting, LIBZMQ.ready).story).toEqual(['ready worker-7']);
  });
});

describe('the handshake', () => {
  it('reports the identity that the peer announced, or an empty one', () => {
    expect(new EngineRecorder().receive(LIBZMQ.greeting, LIBZMQ.ready).story).toEqual(['ready worker-7']);
    expect(new EngineRecorder().receive(LIBZMQ.greeting, READY_ROUTER).story).toEqual(['ready ']);
  });

  it('accepts property names in any case and ignores unknown ones', () => {
    const upper = LIBZMQ.ready.replace('536f636b65742d54797065', '534f434b45542d54595045');
    expect(new EngineRecorder().receive(LIBZMQ.greeting, upper).story).toEqual(['ready worker-7']);
    const extra = `04${(0x1c + 9).toString(16)}${READY_ROUTER.slice(4)}03582d79000000012a`;
    expect(new EngineRecorder().receive(LIBZMQ.greeting, extra).story).toEqual(['ready ']);
  });

  it.each([
    ['ROUTER', 'REP'],
    ['ROUTER', 'PUB'],
    ['DEALER', 'REQ'],
    ['DEALER', ''],
  ] as const)('of a %s with a %j fails, and the peer gets the reason', (socketType, other) => {
    const recorder = new EngineRecorder({ socketType });
    recorder.receive(LIBZMQ.greeting);
    recorder.output();
    const size = (22 + other.length).toString(16);
    recorder.receive(
      `04${size}0552454144590b536f636b65742d54797065`,
      other.length.toString(16).padStart(8, '0'),
      Buffer.from(other).toString('hex'),
    );
    expect(recorder.story).toEqual(['failed socket-type']);
    expect(Buffer.from(recorder.output(), 'hex').toString('latin1')).toContain(
      `ERROR${String.fromCharCode(recorder.failure!.length)}a ${socketType} cannot talk to a "${other}"`,
    );
  });

  it.each(['REQ', 'DEALER', 'ROUTER'])('of a ROUTER with a %s succeeds', (other) => {
    const ready = `04${(22 + other.length).toString(16)}0552454144590b536f636b65742d54797065${other.length.toString(16).padStart(8, '0')}${Buffer.from(other).toString('hex')}`;
    expect(new EngineRecorder().receive(LIBZMQ.greeting, ready).story).toEqual(['ready ']);
  });

  it.each([
    ['a message', wire('hello')],
    ['a PING', ping('0000')],
    ['an unknown command', '0403024849'],
    ['a READY without socket type', '0406055245414459'],
    ['a property cut short', '040a05524541445903582d79'],
    ['a property longer than the command', READY_ROUTER.replace('00000006', '00000007')],
    ['a property without a name', '040b0552454144590000000000'],
    ['an identity that begins with 0x00', LIBZMQ.ready.replace('776f726b', '006f726b')],
    ['a command with the flag MORE', LIBZMQ.ready.replace(/^04/, '05')],
    ['a reserved flag', LIBZMQ.ready.replace(/^04/, '0c')],
    ['a command without a name', '040100'],
    ['a command whose name is cut short', '0403055245'],
  ])('fails for %s', (_, hex) => {
    expect(new EngineRecorder().receive(LIBZMQ.greeting, hex).story).toEqual(['failed malformed']);
  });

  it('fails for an identity of more than 255 bytes', () => {
    const body = `0552454144590b536f636b65742d54797065000000064445414c4552084964656e7469747900000100${'61'.repeat(256)}`;
    const size = (body.length / 2).toString(16).padStart(16, '0');
    expect(new EngineRecorder().receive(LIBZMQ.greeting, `06${size}`, body).story).toEqual(['failed malformed']);
  });

  it('fails when the peer sends ERROR, with its reason made safe for a log', () => {
    const recorder = new EngineRecorder().receive(LIBZMQ.greeting, '040a054552524f52036e0a6f');
    expect([recorder.story, recorder.failure]).toEqual([['failed refused'], 'the peer refused: "n?o"']);
  });

  it('fails for a command over 8 KiB before it has arrived', () => {
    expect(new EngineRecorder().receive(LIBZMQ.greeting, '060000000000002001').story).toEqual(['failed too-large']);
  });

  it('must complete in time, however busy the peer seems', () => {
    const { connection, story } = new EngineRecorder();
    expect(connection.deadline).toBe(1_000);
    connection.receive(fromHex(LIBZMQ.greeting), 999);
    connection.tick(999);
    expect([story, connection.deadline]).toEqual([[], 1_000]);
    connection.tick(1_000);
    expect([story, connection.deadline]).toEqual([['failed handshake-timeout'], Infinity]);
  });
});

describe('traffic', () => {
  it('delivers messages from libzmq frame by frame', () => {
    const recorder = EngineRecorder.met({ maxMessageBytes: 1_000, maxFrameBytes: 1_000 }).receive(LIBZMQ.message);
    expect(recorder.story).toEqual([`message hello||${'x'.repeat(300)}`]);
  });

  it('drops a message of too many frames or bytes, reports it once, and continues', () => {
    const recorder = EngineRecorder.met();
    recorder.receive(wire('1', '2', '3', '4'), wire('1', '2', '3', '4', '5', '6'));
    recorder.receive(wire('x'.repeat(100)), wire('x'.repeat(60), 'x'.repeat(41), 'x'), wire('x'.repeat(150)));
    recorder.receive(wire('end'));
    expect(recorder.story).toEqual([
      'message 1|2|3|4',
      'rejected too-many-frames',
      `message ${'x'.repeat(100)}`,
      'rejected too-large',
      'rejected too-large',
      'message end',
    ]);
  });

  it('fails for a frame over the limit before it has arrived', () => {
    expect(EngineRecorder.met().receive('0097').story).toEqual(['failed too-large']);
    expect(EngineRecorder.met().receive('02ffffffffffffffff').story).toEqual(['failed too-large']);
  });

  it('ignores all bytes after a failure', () => {
    expect(EngineRecorder.met().receive(wire('a'), '0800', wire('b')).story).toEqual(['message a', 'failed malformed']);
  });

  it('answers a PING between the frames of a message, as libzmq sends it', () => {
    const recorder = EngineRecorder.met().receive('010161', ping('0000'), '000162');
    expect([recorder.story, recorder.output()]).toEqual([['message a|b'], '040504504f4e47']);
  });

  it('ignores unknown commands', () => {
    expect(EngineRecorder.met().receive('0405094845', wire('a')).story).toEqual(['failed malformed']);
    expect(EngineRecorder.met().receive('04040248454c', wire('a')).story).toEqual(['message a']);
  });

  it('is held while messages are not accepted; commands are not held; then continues where it stopped', () => {
    const recorder = EngineRecorder.met();
    recorder.pauseOnMessage = true;
    recorder.receive(wire('1'), ping('0000'), wire('2'), wire('x'.repeat(101)), ping('0000', '01'), wire('3'), '0001');
    expect([recorder.story, recorder.output()]).toEqual([['message 1', 'held'], '040504504f4e47']);
    recorder.connection.resume(0);
    expect([recorder.story.length, recorder.connection.holding]).toEqual([2, true]);
    recorder.accepting = true;
    recorder.connection.resume(0);
    expect([recorder.story.slice(2), recorder.connection.holding]).toEqual([['message 2', 'held'], true]);
    recorder.accepting = true;
    recorder.pauseOnMessage = false;
    recorder.connection.resume(0);
    recorder.receive('34');
    expect(recorder.story.slice(4)).toEqual(['rejected too-large', 'message 3', 'message 4']);
    expect(recorder.output()).toBe('040604504f4e4701');
  });
});

describe('commands', () => {
  it('wait in order while none are accepted, then continue where they stopped', () => {
    const recorder = EngineRecorder.met();
    recorder.obeying = false;
    recorder.receive(ping('0000', '01'), ping('0000', '02'), wire('1'));
    expect([recorder.story, recorder.output(), recorder.connection.holding]).toEqual([['held'], '', true]);
    recorder.obeying = true;
    recorder.connection.resume(0);
    expect([recorder.story, recorder.output()]).toEqual([['held', 'message 1'], '040604504f4e4702']);
  });

  it('count as work, and a handshake with cryptography as more', () => {
    const recorder = EngineRecorder.met();
    expect(recorder.work).toBe(1);
    recorder.receive(ping('0000'), '040504504f4e47', '04040248454c');
    expect(recorder.work).toBe(4);
  });
});

describe('heartbeats', () => {
  const HEARTBEATS = { heartbeatMs: 200, timeoutMs: 600 };
  const PING = ping('0008');

  it('answer a PING with its context', () => {
    expect(EngineRecorder.met().receive(ping('0000', 'c0ffee')).output()).toBe('040804504f4e47c0ffee');
  });

  it('answer only the last of many PINGs', () => {
    const recorder = EngineRecorder.met();
    for (let count = 0; count < 1_000; count++) recorder.receive(ping('0000', '01'));
    expect(recorder.receive(ping('0000', '02')).output()).toBe('040604504f4e4702');
    expect(recorder.output()).toBe('');
  });

  it.each([
    ['a PING with more than 16 bytes of context', ping('0000', '00'.repeat(17))],
    ['a PING without time-to-live', '04060450494e4700'],
    ['a PONG with more than 16 bytes of context', `041604504f4e47${'00'.repeat(17)}`],
  ])('fail for %s', (_, hex) => {
    expect(EngineRecorder.met().receive(hex).story).toEqual(['failed malformed']);
  });

  it('send a PING after an interval without input', () => {
    const { connection, story, output } = withOutput(EngineRecorder.met(HEARTBEATS));
    connection.sent(150);
    connection.tick(199);
    expect(output()).toBe('');
    connection.tick(200);
    expect([output(), connection.deadline, story]).toEqual([PING, 800, []]);
  });

  it('send a PING after an interval without output, as the time-to-live promises', () => {
    const { connection, output } = withOutput(EngineRecorder.met(HEARTBEATS));
    connection.receive(fromHex(wire('x')), 150);
    connection.tick(200);
    expect(output()).toBe(PING);
  });

  it('send nothing while both sides send', () => {
    const { connection, output } = withOutput(EngineRecorder.met(HEARTBEATS));
    for (let now = 100; now <= 5_000; now += 100) {
      connection.receive(fromHex(wire('x')), now);
      connection.sent(now);
      connection.tick(now);
    }
    expect([output(), connection.deadline]).toEqual(['', 5_200]);
  });

  it('send one PING, and give up if nothing arrives in time', () => {
    const { connection, story, output } = withOutput(EngineRecorder.met(HEARTBEATS));
    connection.tick(200);
    connection.sent(200);
    expect(output()).toBe(PING);
    connection.tick(799);
    expect([output(), story]).toEqual(['', []]);
    connection.tick(800);
    expect(story).toEqual(['failed silent']);
  });

  it('accept any bytes as a sign of life', () => {
    const { connection, story } = EngineRecorder.met(HEARTBEATS);
    connection.tick(200);
    connection.receive(fromHex('00'), 799);
    connection.tick(800);
    expect([story, connection.deadline]).toEqual([[], 1_400]);
  });

  it('give up after the peer’s time-to-live, unless it sends again', () => {
    const { connection, story } = EngineRecorder.met({ timeoutMs: 60_000 });
    connection.receive(fromHex(LIBZMQ.ping), 100);
    expect(connection.deadline).toBe(2_600);
    connection.receive(fromHex(LIBZMQ.ping), 2_000);
    connection.tick(2_600);
    expect([story, connection.deadline]).toEqual([[], 4_500]);
    connection.tick(4_500);
    expect(story).toEqual(['failed silent']);
  });

  it('are not sent to a peer of ZMTP 3.0, which does not know them', () => {
    expect(EngineRecorder.met(HEARTBEATS, GREETING_3_0).connection.deadline).toBe(Infinity);
  });

  it('do not judge the peer while the connection is not read', () => {
    const recorder = EngineRecorder.met(HEARTBEATS);
    const { connection, story } = recorder;
    recorder.accepting = false;
    recorder.receive(LIBZMQ.ping, wire('x'));
    for (let now = 0; now < 10_000; now = connection.deadline) connection.tick(now);
    expect(story).toEqual(['held']);
    recorder.accepting = true;
    connection.resume(10_000);
    connection.sent(10_000);
    connection.tick(10_000);
    expect([story, connection.deadline]).toEqual([['held', 'message x'], 10_200]);
  });

  it.each([
    ['twice per interval', HEARTBEATS, '0000', 100],
    ['every second without an interval', { heartbeatMs: 0 }, '0000', 1_000],
    ['every second if the interval is long', { heartbeatMs: 60_000 }, '0000', 1_000],
    ['six times within the time-to-live of the peer', { heartbeatMs: 0 }, '0003', 50],
  ])(
    'continue %s while the connection is not read, so that the peer does not give us up',
    (_, settings, ttl, everyMs) => {
      const recorder = EngineRecorder.met(settings);
      const { connection } = recorder;
      recorder.accepting = false;
      recorder.receive(ping(ttl), wire('x'));
      recorder.output();
      const promise = settings.heartbeatMs === 200 ? PING : ping(settings.heartbeatMs === 0 ? '0000' : '025e');
      for (let now = everyMs; now <= 20 * everyMs; now += everyMs) {
        expect(connection.deadline).toBe(now);
        connection.tick(now);
        expect(recorder.output()).toBe(promise);
      }
    },
  );

  it('are not sent to a peer of ZMTP 3.0 while the connection is not read', () => {
    const recorder = EngineRecorder.met(HEARTBEATS, GREETING_3_0);
    recorder.accepting = false;
    recorder.receive(wire('x'));
    expect(recorder.connection.deadline).toBe(Infinity);
  });

  it.each([
    ['their interval', HEARTBEATS, 250],
    ['their timeout, without an interval', { heartbeatMs: 0, timeoutMs: 600 }, 650],
  ])('give up a probed peer after %s, unless it sends something', (_, settings, end) => {
    const { connection, story } = EngineRecorder.met(settings);
    connection.probe(10);
    connection.receive(fromHex(wire('x')), 20);
    connection.probe(50);
    connection.probe(100);
    connection.tick(end - 1);
    expect(story).toEqual(['message x']);
    connection.tick(end);
    expect(story).toEqual(['message x', 'failed silent']);
  });

  it('do not probe a peer that does not know them, and do not judge while the connection is not read', () => {
    const old = EngineRecorder.met(HEARTBEATS, GREETING_3_0).connection;
    old.probe(0);
    expect(old.deadline).toBe(Infinity);
    const recorder = EngineRecorder.met(HEARTBEATS);
    recorder.accepting = false;
    recorder.receive(wire('x'));
    recorder.connection.probe(0);
    for (let now = 0; now < 10_000; now = recorder.connection.deadline) recorder.connection.tick(now);
    expect(recorder.story).toEqual(['held']);
  });

  it('do not pile up for a peer that does not read', () => {
    const { connection, output } = withOutput(EngineRecorder.met(HEARTBEATS));
    for (let now = 200; now < 100_000; now += 200) {
      connection.tick(now);
      connection.receive(fromHex(PING), now);
    }
    expect(output()).toBe(`040504504f4e47${PING}`);
  });

  it('are sent, but do not judge, while nothing can be received; judging restarts afterwards', () => {
    const { connection, story, output } = withOutput(EngineRecorder.met(HEARTBEATS));
    connection.tick(200);
    output();
    connection.excuse(800, true);
    for (let now = 800; now < 5_000; now = connection.deadline) connection.tick(now);
    expect([story, output()]).toEqual([[], PING]);
    connection.excuse(5_000, false);
    connection.tick(5_200);
    expect([story, output()]).toEqual([[], PING]);
    connection.excuse(5_000, false);
    connection.tick(5_800);
    expect(story).toEqual(['failed silent']);
  });
});

function withOutput(recorder: EngineRecorder) {
  return { connection: recorder.connection, story: recorder.story, output: () => recorder.output() };
}
