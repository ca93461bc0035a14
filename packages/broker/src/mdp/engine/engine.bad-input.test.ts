/** docs/protocols/mdp.md, section "Bad input": each row, from strangers and from registered workers. */
import { describe, expect, it } from 'vitest';
import { BrokerUnderTest } from '../../../test/mdp/broker-under-test.js';

const C = 'c1';

/** Row, frames, reason. */
type Row = readonly [string, readonly string[], string];

const ONE_FRAME: readonly Row[] = [
  ['no frame', [], 'no-header'],
  ['one empty frame', [''], 'no-header'],
  ['one frame', ['hello'], 'unknown-header'],
  ['unknown header', ['MDPX02', '\x01', 'echo'], 'unknown-header'],
  ['unknown version', ['MDPC03', '\x01', 'echo', 'x'], 'unknown-header'],
  ['unknown version of libmdp', ['', 'MDPW0X', '\x01', 'echo'], 'unknown-header'],
];

const CLIENT: readonly Row[] = [
  ['client header alone', ['MDPC02'], 'no-command'],
  ['client header and command alone', ['MDPC02', '\x01'], 'no-service'],
  ['0.1 client header alone', ['', 'MDPC01'], 'no-service'],
  ['unknown client command', ['MDPC02', '\x09', 'echo', 'x'], 'unknown-command'],
  ['reply from a client', ['MDPC02', '\x03', 'echo', 'x'], 'wrong-direction'],
  ['empty client command', ['MDPC02', '', 'echo', 'x'], 'command-length'],
  ['client command of two bytes', ['MDPC02', '\x01\x01', 'echo', 'x'], 'command-length'],
  ['request without service', ['MDPC02', '\x01', '', 'x'], 'service-invalid'],
  ['request without body', ['MDPC02', '\x01', 'echo'], 'no-body'],
  ['request for an unprintable name', ['MDPC02', '\x01', 'ec\nho', 'x'], 'service-invalid'],
  ['request for a name of 256 bytes', ['MDPC02', '\x01', 'x'.repeat(256), 'x'], 'service-invalid'],
  ['0.1 request without the empty frame', ['MDPC01', 'echo', 'x'], 'no-leading-empty'],
  ['0.2 request with an empty frame', ['', 'MDPC02', '\x01', 'echo', 'x'], 'leading-empty'],
  ['mmi.service without body', ['MDPC02', '\x01', 'mmi.service'], 'no-body'],
];

const WORKER: readonly Row[] = [
  ['worker header alone', ['MDPW02'], 'no-command'],
  ['0.1 worker header alone', ['', 'MDPW01'], 'no-command'],
  ['unknown worker command', ['MDPW02', '\x09'], 'unknown-command'],
  ['command 06 under 0.1', ['', 'MDPW01', '\x06'], 'unknown-command'],
  ['empty worker command', ['MDPW02', ''], 'command-length'],
  ['worker command of two bytes', ['MDPW02', '\x05\x05'], 'command-length'],
  ['REQUEST from a worker', ['MDPW02', '\x02', C, '', 'x'], 'wrong-direction'],
  ['READY without service', ['MDPW02', '\x01'], 'no-service'],
  ['READY with more frames', ['MDPW02', '\x01', 'echo', 'x'], 'extra-frames'],
  ['READY for an invalid name', ['MDPW02', '\x01', ''], 'service-invalid'],
  ['HEARTBEAT with more frames', ['MDPW02', '\x05', ''], 'extra-frames'],
  ['DISCONNECT with more frames', ['MDPW02', '\x06', 'x'], 'extra-frames'],
  ['reply without address', ['MDPW02', '\x04'], 'envelope'],
  ['reply with an empty address', ['MDPW02', '\x04', '', '', 'x'], 'envelope'],
  ['reply without empty frame', ['MDPW02', '\x04', C, 'x', 'y'], 'envelope'],
  ['reply with two addresses', ['MDPW02', '\x04', C, 'c2', '', 'x'], 'envelope'],
  ['reply without body', ['MDPW02', '\x04', C, ''], 'no-body'],
  ['PARTIAL without body', ['MDPW02', '\x03', C, ''], 'no-body'],
  ['0.1 without the empty frame', ['MDPW01', '\x04'], 'no-leading-empty'],
  ['0.2 with an empty frame', ['', 'MDPW02', '\x05'], 'leading-empty'],
];

/** A broker with a busy worker `w1`, an idle worker `w2`, and client c1 that awaits its reply. */
function brokerAtWork(): BrokerUnderTest {
  const broker = new BrokerUnderTest();
  broker.ready('w1');
  broker.ready('w2');
  broker.request(C, 'hello');
  return broker;
}

describe('rule 9: from a stranger', () => {
  it.each([...ONE_FRAME, ...CLIENT, ...WORKER])('rule 9: %s is dropped and counted', (_row, frames, reason) => {
    const broker = brokerAtWork();
    expect(broker.frames('x', ...frames)).toEqual([`note message-dropped ${reason} x`]);
    expect(broker.dropped).toEqual({ [reason]: 1 });
    expect(broker.stats.workers).toBe(2);
  });
});

describe('rule 9: from a registered worker', () => {
  it.each([...ONE_FRAME, ...WORKER])(
    'rule 9: %s ends it, and its job goes to another worker',
    (_row, frames, reason) => {
      const broker = brokerAtWork();
      expect(broker.frames('w1', ...frames)).toEqual([
        `note message-dropped ${reason} w1`,
        '-> w1 DISCONNECT',
        'worker-lost w1 echo invalid',
        '-> w2 REQUEST c1 "hello"',
      ]);
    },
  );

  it.each(CLIENT)('%s counts as a message of a client, and does not affect the worker', (_row, frames, reason) => {
    const broker = brokerAtWork();
    expect(broker.frames('w1', ...frames)).toEqual([`note message-dropped ${reason} w1`]);
    expect(broker.stats.workers).toBe(2);
  });

  it('rule 9: it may register again at once', () => {
    const broker = brokerAtWork();
    broker.frames('w1', 'MDPW02');
    expect(broker.ready('w1')).toEqual(['worker-ready w1 echo']);
  });

  it('a message of the other version is invalid', () => {
    const broker = brokerAtWork();
    expect(broker.heartbeat('w1', '0.1')).toEqual([
      'note message-dropped wrong-version w1',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo invalid',
      '-> w2 REQUEST c1 "hello"',
    ]);
  });
});

describe('one identity as client and as worker', () => {
  it('has both roles side by side', () => {
    const broker = new BrokerUnderTest();
    broker.ready('both');
    expect(broker.request('both', 'to myself')).toEqual(['-> both REQUEST both "to myself"']);
    expect(broker.final('both', 'both', 'from myself')).toEqual(['-> both FINAL echo "from myself"']);
    expect(broker.stats).toMatchObject({ workers: 1, openRequests: 0 });
  });
});

describe('messages over the limits of the socket', () => {
  it.each(['too-large', 'too-many-frames', 'no-frames'] as const)('%s is dropped and counted', (reason) => {
    const broker = brokerAtWork();
    expect(broker.rejected('x', reason)).toEqual([`note message-dropped ${reason} x`]);
    expect(broker.dropped).toEqual({ [reason]: 1 });
  });

  it('end a registered worker, whose job would otherwise never end', () => {
    const broker = brokerAtWork();
    expect(broker.rejected('w1', 'too-large')).toEqual([
      'note message-dropped too-large w1',
      '-> w1 DISCONNECT',
      'worker-lost w1 echo invalid',
      '-> w2 REQUEST c1 "hello"',
    ]);
  });
});

describe('rule 6: the address', () => {
  it('rule 6: is exactly one frame and then an empty one', () => {
    const broker = brokerAtWork();
    expect(broker.frames('w1', 'MDPW02', '\x04', C, '', 'done')).toEqual(['-> c1 FINAL echo "done"']);
  });

  it('rule 6: any bytes of a client’s id come back unchanged', () => {
    const broker = new BrokerUnderTest();
    broker.ready('w1');
    const id = '\x00\xff\x80\x0a';
    broker.request(id, 'hello');
    expect(broker.frames('w1', 'MDPW02', '\x04', id, '', 'done')).toEqual([`-> ${id} FINAL echo "done"`]);
  });
});
