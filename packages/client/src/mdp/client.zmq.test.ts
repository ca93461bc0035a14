import { ownEndpoint } from '@proj/testkit';
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, describe, expect, it } from 'vitest';
import { ScriptedBroker } from '../../test/mdp/scripted-broker.js';
import type { Asked } from '../../test/mdp/scripted-broker.js';
import { echo, silence, text } from '../../test/mdp/stage.js';
import { MdpClient } from './client.js';
import type { MdpClientOptions } from './options.js';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function broker(answer: (asked: Asked) => void, endpoint = 'tcp://127.0.0.1:*'): Promise<ScriptedBroker> {
  const started = await ScriptedBroker.start(zmqTransport(), endpoint, answer);
  open.push(started);
  return started;
}

function client(options: MdpClientOptions): MdpClient {
  const made = new MdpClient({ timeoutMs: 120_000, ...options });
  open.push(made);
  return made;
}

describe('over real sockets', () => {
  it.each(['0.1', '0.2'] as const)(
    'MDP %s: multi-frame, empty and binary bodies come back byte for byte',
    async (version) => {
      const { endpoint } = await broker(echo);
      const body = [Buffer.alloc(0), Buffer.from('text'), Buffer.from([0, 1, 255]), Buffer.alloc(1 << 20, 7)];
      const reply = await client({ endpoints: [endpoint], version }).request('echo', body);
      expect(reply.map((frame) => frame.length)).toEqual([0, 4, 3, 1 << 20]);
      expect(Buffer.concat(reply).equals(Buffer.concat(body))).toBe(true);
    },
  );

  it('2000 concurrent requests over 8 sockets never mix', async () => {
    const { endpoint } = await broker(echo);
    const own = client({ endpoints: [endpoint] });
    const bodies = Array.from({ length: 2000 }, (_, i) => `body ${i}`);
    const replies = await Promise.all(bodies.map((body) => own.request('echo', body)));
    expect(replies.map(text)).toEqual(bodies);
    expect(own.stats()).toMatchObject({ lanes: 8, sends: 2000, finals: 2000 });
  });

  it('streams partial replies', async () => {
    const { endpoint } = await broker((asked) => {
      for (let i = 0; i < 100; i++) asked.partial(`part ${i}`);
      asked.final('end');
    });
    let seen = 0;
    for await (const part of client({ endpoints: [endpoint] }).stream('tail', 'log'))
      expect(text(part)).toBe(`part ${seen++}`);
    expect(seen).toBe(100);
  });

  it('fails over from an endpoint without a server', async () => {
    const { endpoint } = await broker(echo);
    const own = client({ endpoints: ['tcp://127.0.0.1:9', endpoint], timeoutMs: 500, tries: 100 });
    expect(text(await own.request('echo', 'x'))).toBe('x');
    expect(own.stats().sends).toBeGreaterThan(1);
  });

  it('gets its answer after the broker has come back on the same endpoint', async () => {
    const first = await broker(silence, await ownEndpoint());
    const own = client({ endpoints: [first.endpoint], timeoutMs: 300, tries: 500 });
    const call = own.request('echo', 'x');
    await first.received(1);
    await first.close();
    await broker(echo, first.endpoint);
    expect(text(await call)).toBe('x');
  });

  it('never sends an aborted request later: its socket is closed without lingering', async () => {
    const endpoint = await ownEndpoint();
    const abort = new AbortController();
    const own = client({ endpoints: [endpoint] });
    const call = own.request('echo', 'aborted', { signal: abort.signal });
    await own.request('other', 'x', { timeoutMs: 50, tries: 1 }).catch(() => undefined);
    abort.abort('enough');
    await expect(call).rejects.toBe('enough');
    const late = await broker(echo, endpoint);
    expect(text(await own.request('echo', 'next'))).toBe('next');
    expect(late.asked.map((asked) => asked.text)).toEqual(['next']);
  });

  it('refuses an endpoint that ZeroMQ refuses, with UNREACHABLE', async () => {
    const call = client({ endpoints: ['nonsense://x'] }).request('echo', 'x');
    await expect(call).rejects.toMatchObject({ code: 'UNREACHABLE', cause: { code: 'OPTIONS_INVALID' } });
  });
});
