import { ownEndpoint } from '@proj/testkit';
import { zmqTransport } from '@proj/transport/zmq';
import { afterEach, describe, expect, it } from 'vitest';
import { echo, ScriptedQueue, silence } from '../../test/ppp/stage.js';
import type { Asked } from '../../test/ppp/stage.js';
import { text } from '../../test/world.js';
import { LazyPirateClient } from './client.js';
import type { LazyPirateOptions } from './options.js';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function queue(answer: (asked: Asked) => void, endpoint = 'tcp://127.0.0.1:*'): Promise<ScriptedQueue> {
  const started = await ScriptedQueue.start(zmqTransport(), endpoint, answer);
  open.push(started);
  return started;
}

function client(options: LazyPirateOptions): LazyPirateClient {
  const made = new LazyPirateClient({ timeoutMs: 120_000, ...options });
  open.push(made);
  return made;
}

describe('LazyPirateClient over real sockets', () => {
  it('rule 1: multi-frame, empty and binary bodies come back unchanged', async () => {
    const { endpoint } = await queue(echo);
    const body = [Buffer.alloc(0), Buffer.from('text'), Buffer.from([0, 1, 255]), Buffer.alloc(1 << 20, 7)];
    const reply = await client({ endpoints: [endpoint] }).request(body);
    expect(reply.map((frame) => frame.length)).toEqual([0, 4, 3, 1 << 20]);
    expect(Buffer.concat(reply).equals(Buffer.concat(body))).toBe(true);
  });

  it('rule 2: each of 2000 calls at once gets its own reply', async () => {
    const { endpoint } = await queue(echo);
    const own = client({ endpoints: [endpoint] });
    const bodies = Array.from({ length: 2000 }, (_, i) => `body ${i}`);
    const replies = await Promise.all(bodies.map((body) => own.request(body)));
    expect(replies.map(text)).toEqual(bodies);
    expect(own.stats()).toMatchObject({ lanes: 8, sends: 2000, finals: 2000 });
  });

  it('rule 5: a missing queue is skipped', async () => {
    const { endpoint } = await queue(echo);
    const own = client({ endpoints: ['tcp://127.0.0.1:9', endpoint], timeoutMs: 500, tries: 100 });
    expect(text(await own.request('x'))).toBe('x');
    expect(own.stats().sends).toBeGreaterThan(1);
  });

  it('rule 3: a call outlives its queue and is answered by the next one at that endpoint', async () => {
    const first = await queue(silence, await ownEndpoint());
    const own = client({ endpoints: [first.endpoint], timeoutMs: 300, tries: 500 });
    const call = own.request('x');
    await first.received(1);
    await first.close();
    await queue(echo, first.endpoint);
    expect(text(await call)).toBe('x');
  });

  it('rule 8: a request that was given up unsent is never executed', async () => {
    const endpoint = await ownEndpoint();
    const abort = new AbortController();
    const own = client({ endpoints: [endpoint] });
    const call = own.request('aborted', { signal: abort.signal });
    await own.request('timed out', { timeoutMs: 50, tries: 1 }).catch(() => undefined);
    abort.abort('enough');
    await expect(call).rejects.toBe('enough');
    const late = await queue(echo, endpoint);
    expect(text(await own.request('next'))).toBe('next');
    expect(late.asked.map((asked) => asked.text)).toEqual(['next']);
  });
});
