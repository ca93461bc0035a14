/** Publishers and subscribers with libzmq on the other side, and what a publisher does with subscribers of all kinds. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { HAS_LIBZMQ } from '@proj/testkit/libzmq';
import { MemoryBudget } from '@proj/transport';
import type { PortOptions, SubscriberPort } from '@proj/transport';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as zmq from 'zeromq';
import { ZmtpTransport } from './index.js';
import { newKeys, z85 } from './test/keys.js';
import { fromHex, LIBZMQ, wire } from './test/recorder.js';
import { loadCurve } from './security.js';

beforeAll(loadCurve);

const TCP = 'tcp://127.0.0.1:*';
const SERVER = newKeys();
const CLIENT = newKeys();
const NULL_SIDES = { serve: {}, call: {}, theirServer: {}, theirClient: {} };
const CURVE_SIDES = {
  serve: { curve: { role: 'server', keys: SERVER } },
  call: { curve: { role: 'client', keys: CLIENT, serverKey: SERVER.publicKey } },
  theirServer: { curveServer: true, curveSecretKey: z85(SERVER.secretKey) },
  theirClient: {
    curveServerKey: z85(SERVER.publicKey),
    curvePublicKey: z85(CLIENT.publicKey),
    curveSecretKey: z85(CLIENT.secretKey),
  },
} as const;

let opened: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

function kept<One extends { close(): unknown }>(one: One): One {
  opened.push(one);
  return one;
}

/** A publisher that repeats a message until it arrived. */
async function publisher(options: PortOptions, transport = new ZmtpTransport()) {
  const port = kept(transport.publisher({ lingerMs: 0, ...options }));
  const endpoint = await port.bind(TCP);
  port.start({ onBroken: fail });
  const publish = (text: string) => port.publish(text.split('|').map((frame) => Buffer.from(frame)));
  return { port, endpoint, publish };
}

function fail(error: Error): never {
  throw error;
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

/** Repeats an action until the condition holds: a subscription takes time to arrive. */
async function repeat(action: () => unknown, condition: () => boolean): Promise<void> {
  while (!condition()) {
    await action();
    await pause();
  }
}

/** The messages that a libzmq socket receives, as texts. */
function reading(socket: zmq.Subscriber): string[] {
  const texts: string[] = [];
  void (async () => {
    for await (const frames of socket) texts.push(frames.join('|'));
  })();
  return texts;
}

function hearing(port: SubscriberPort): string[] {
  const texts: string[] = [];
  port.start({
    onMessage: (frames) => void texts.push(frames.map((frame) => Buffer.from(frame).toString()).join('|')),
    onRejected: () => undefined,
    onBroken: fail,
  });
  return texts;
}

describe.runIf(HAS_LIBZMQ).each([
  ['NULL', NULL_SIDES],
  ['CURVE', CURVE_SIDES],
] as const)('with libzmq and %s', (_, { serve, call, theirServer, theirClient }) => {
  it('a SUB receives from our publisher, until it cancels a subscription', async () => {
    const { endpoint, publish } = await publisher(serve);
    const theirs = kept(new zmq.Subscriber({ linger: 0, ...theirClient }));
    theirs.connect(endpoint);
    theirs.subscribe('a', 'b');
    const heard = reading(theirs);
    await repeat(
      () => publish('b|?'),
      () => heard.includes('b|?'),
    );
    publish('c|no');
    publish('a|1');
    await repeat(pause, () => heard.includes('a|1'));
    theirs.unsubscribe('a');
    theirs.subscribe('d');
    await repeat(
      () => publish('d|?'),
      () => heard.includes('d|?'),
    );
    publish('a|2');
    publish('d|3');
    await repeat(pause, () => heard.includes('d|3'));
    expect(heard.filter((text) => !text.endsWith('?'))).toEqual(['a|1', 'd|3']);
  });

  it.each(['PUB', 'XPUB'])('a subscriber receives from a %s, which gets its subscription', async (kind) => {
    const options = { linger: 0, ...theirServer };
    const theirs = kept(kind === 'PUB' ? new zmq.Publisher(options) : new zmq.XPublisher(options));
    await theirs.bind(TCP);
    const port = kept(new ZmtpTransport().subscriber(call));
    port.subscribe(Buffer.from('a'));
    port.connect(theirs.lastEndpoint!);
    const heard = hearing(port);
    if (theirs instanceof zmq.XPublisher) {
      expect((await theirs.receive())[0]).toEqual(Buffer.from('\x01a'));
      port.unsubscribe(Buffer.from('a'));
      expect((await theirs.receive())[0]).toEqual(Buffer.from('\0a'));
      port.subscribe(Buffer.from('a'));
      expect((await theirs.receive())[0]).toEqual(Buffer.from('\x01a'));
    }
    await repeat(
      () => theirs.send(['a', '?']),
      () => heard.includes('a|?'),
    );
    await theirs.send(['b', 'no']);
    await theirs.send(['a', 'yes']);
    await repeat(pause, () => heard.includes('a|yes'));
    expect(heard).not.toContain('b|no');
  });
});

describe('a publisher', () => {
  const GREETING_3_0 = LIBZMQ.greeting.replace('0301', '0300');
  const READY_SUB = '04190552454144590b536f636b65742d5479706500000003535542';

  /** A subscriber made of raw bytes. */
  function raw(
    endpoint: string,
    ...hex: readonly string[]
  ): { socket: Socket; heard: () => string; ended: Promise<void> } {
    const socket = connect(Number(endpoint.split(':')[2]), '127.0.0.1');
    kept({ close: () => socket.destroy() });
    let heard = '';
    socket.on('data', (chunk) => (heard += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.write(fromHex(...hex));
    return { socket, heard: () => heard, ended: new Promise((resolve) => socket.once('close', () => resolve())) };
  }

  it('accepts subscriptions as messages from ZMTP 3.0 and as commands from 3.1', async () => {
    const { endpoint, publish } = await publisher({});
    const old = raw(endpoint, GREETING_3_0, READY_SUB, wire('\x01a'), wire('\x01b'), wire('\0b'));
    const recent = raw(endpoint, LIBZMQ.greeting, READY_SUB, '040b09535542534352494245', '61');
    for (const { heard } of [old, recent])
      await repeat(
        () => publish('a|?'),
        () => heard().includes('a\0\x01?'),
      );
    publish('b|no');
    publish('a|end');
    await repeat(pause, () => old.heard().includes('end') && recent.heard().includes('end'));
    expect([old.heard().includes('no'), recent.heard().includes('no')]).toEqual([false, false]);
  });

  it('cuts a connection that exceeds the limit of subscriptions, and reports why', async () => {
    const failures: string[] = [];
    const transport = new ZmtpTransport({
      subscriptionBytesMax: 200,
      onConnectionFailed: ({ code, text }) => failures.push(`${code}: ${text}`),
    });
    const { endpoint, publish } = await publisher({}, transport);
    const twice = [wire('\x01aa'), wire('\x01aa'), wire('\x01aa'), wire('\x01bb'), wire('\0bb'), wire('\x01cc')];
    const modest = raw(endpoint, LIBZMQ.greeting, READY_SUB, ...twice);
    await repeat(
      () => publish('cc|?'),
      () => modest.heard().includes('cc'),
    );
    const greedy = raw(endpoint, LIBZMQ.greeting, READY_SUB, ...['a', 'b', 'c', 'd'].map((one) => wire(`\x01${one}`)));
    await greedy.ended;
    expect(failures).toEqual(['too-large: subscriptions take more than 200 bytes']);
  });

  it('takes back what somebody asked for who is gone, and no more than 512 prefixes in a turn', async () => {
    const count = 2000;
    const port = kept(new ZmtpTransport().publisher({ lingerMs: 0, tellsSubscriptions: true }));
    const endpoint = await port.bind(TCP);
    let turn = 0;
    const turns = new Map<number, number>();
    const standing = new Set<string>();
    port.start({
      onBroken: fail,
      onSubscription: (prefix, wanted) => {
        const text = Buffer.from(prefix).toString();
        if (wanted) standing.add(text);
        else if (standing.delete(text)) turns.set(turn, (turns.get(turn) ?? 0) + 1);
      },
    });
    const many = raw(
      endpoint,
      LIBZMQ.greeting,
      READY_SUB,
      ...Array.from({ length: count }, (_, n) => wire(`\x01topic ${n}.`)),
    );
    const nextTurn = async (): Promise<void> => {
      await new Promise(setImmediate);
      turn++;
    };
    while (standing.size < count) await nextTurn();
    many.socket.destroy();
    while (standing.size > 0) await nextTurn();
    expect(Math.max(...turns.values())).toBe(512);
    expect([...turns.values()].reduce((one, other) => one + other)).toBe(count);
  });

  it('counts a message once, however many subscribers have not read it', async () => {
    const memory = new MemoryBudget(2 ** 30);
    const { port, endpoint, publish } = await publisher({}, new ZmtpTransport({ memory }));
    const all = [1, 2, 3].map(() => raw(endpoint, LIBZMQ.greeting, READY_SUB, wire('\x01a')));
    await repeat(
      () => publish('a|?'),
      () => all.every(({ heard }) => heard().includes('?')),
    );
    const before = memory.heldBytes;
    // Nothing is written before the turn ends.
    port.publish([Buffer.from('a'), new Uint8Array(1_000_000)]);
    expect(memory.heldBytes - before).toBeGreaterThan(1_000_000);
    expect(memory.heldBytes - before).toBeLessThan(1_100_000);
    await repeat(pause, () => all.every(({ heard }) => heard().length > 1_000_000));
    await repeat(pause, () => memory.heldBytes <= before);
  });

  it('does not talk to a DEALER', async () => {
    const failures: string[] = [];
    const transport = new ZmtpTransport({ onConnectionFailed: ({ code }) => failures.push(code) });
    const { endpoint } = await publisher({}, transport);
    await raw(endpoint, LIBZMQ.greeting, LIBZMQ.ready).ended;
    expect(failures).toEqual(['socket-type']);
  });
});
