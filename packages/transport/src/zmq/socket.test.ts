import { afterEach, describe, expect, it } from 'vitest';
import * as zmq from 'zeromq';
import { resolvePortOptions } from '../port-options.js';
import type { ZeroMq } from './load.js';
import { openDealer, openRouter } from './socket.js';
import type { OpenSocket, ZmqSocket } from './socket.js';

const options = resolvePortOptions({
  lingerMs: 70,
  highWaterMark: 11,
  receiveHighWaterMark: 12,
  sendWaitMs: 40,
  maxMessageBytes: 5_000,
  connectionHeartbeatMs: 10_000,
  connectionTimeoutMs: 6_000,
  routingId: Buffer.from([1, 0xff, 0, 2]),
});
const kinds = [
  ['router', openRouter],
  ['dealer', openDealer],
] as const;

const open: ZmqSocket[] = [];
const warnings: string[] = [];
const note = (warning: Error): void => {
  warnings.push(warning.message);
};
afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

function keep(result: OpenSocket): OpenSocket {
  open.push(result.socket);
  return result;
}

describe.each(kinds)('a %s', (kind, make) => {
  it('has every limit and time set', () => {
    const { socket } = keep(make(zmq, new zmq.Context({ blocky: false }), options));

    expect(socket).toMatchObject({
      linger: 70,
      sendHighWaterMark: 11,
      receiveHighWaterMark: 12,
      handshakeInterval: 10_000,
    });
    expect(socket.maxMessageSize).toBeGreaterThanOrEqual(5_000);
    expect(socket.maxMessageSize).toBeLessThan(10_000);
  });

  it('has the kernel find peers that vanished, never libzmq, whose heartbeats can abort the process (ADR 7)', () => {
    const { socket } = keep(make(zmq, new zmq.Context({ blocky: false }), options));

    expect(socket).toMatchObject({
      heartbeatInterval: 0,
      tcpKeepalive: 1,
      tcpKeepaliveIdle: 10,
      tcpKeepaliveInterval: 2,
      tcpKeepaliveCount: 3,
    });
  });

  it.each([
    ['under a second', { connectionHeartbeatMs: 50, connectionTimeoutMs: 200 }, { idle: 1, interval: 1 }],
    [
      'of weeks',
      { connectionHeartbeatMs: 2 ** 31 - 1, connectionTimeoutMs: 2 ** 31 - 1 },
      { idle: 32_767, interval: 32_767 },
    ],
  ])('stays within what the kernel accepts for times %s', (_case, times, { idle, interval }) => {
    const { socket } = keep(make(zmq, new zmq.Context({ blocky: false }), resolvePortOptions(times)));

    expect(socket).toMatchObject({ tcpKeepaliveIdle: idle, tcpKeepaliveInterval: interval });
  });

  it('probes no connections where that is switched off', () => {
    const off = resolvePortOptions({ connectionHeartbeatMs: 0 });
    const { socket } = keep(make(zmq, new zmq.Context({ blocky: false }), off));

    expect(socket).toMatchObject({ heartbeatInterval: 0, tcpKeepalive: 0 });
  });

  it('S4: waits for room as long as configured if it is a dealer: a router would hold up all others', () => {
    const { socket } = keep(make(zmq, new zmq.Context({ blocky: false }), options));

    expect(socket.sendTimeout).toBe(kind === 'dealer' ? 40 : 0);
  });

  it('L6: sets nothing too late, which libzmq would only warn about', async () => {
    process.on('warning', note);
    const { socket } = keep(make(zmq, new zmq.Context({ blocky: false }), options));
    await socket.bind('tcp://127.0.0.1:*');
    socket.connect(socket.lastEndpoint ?? '');
    // Warnings come in the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);

    expect(warnings).toEqual([]);
  });

  it('L7: leaves the options as they were, for the next socket', () => {
    const context = new zmq.Context({ blocky: false });
    keep(make(zmq, context, options));
    const second = keep(make(zmq, context, options));

    expect(second.socket.context).toBe(context);
  });

  it('has a notice of its own that nobody can guess', () => {
    const context = new zmq.Context({ blocky: false });
    const notices = [1, 2].map(() => keep(make(zmq, context, options)).goneNotice);

    expect(notices.map((notice) => notice?.byteLength)).toEqual([16, 16]);
    expect(notices[0]).not.toEqual(notices[1]);
  });

  it.each([
    ['is not built with drafts', { ...zmq, capability: { draft: false } }],
    ['refuses the option', { ...zmq, Router: deafTo(zmq.Router), Dealer: deafTo(zmq.Dealer) }],
  ])('has no notice where libzmq %s', (_case, without) => {
    const { goneNotice } = keep(make(without as ZeroMq, new zmq.Context({ blocky: false }), options));

    expect(goneNotice).toBeUndefined();
  });
});

/** The socket class of a libzmq that does not know the draft options. */
function deafTo(base: unknown): unknown {
  return class extends (base as typeof zmq.Router) {
    override setStringOption(option: number, value: string | Buffer | null): void {
      if (option > 100) throw Object.assign(new Error('Invalid argument'), { code: 'EINVAL' });
      super.setStringOption(option, value);
    }
  };
}
