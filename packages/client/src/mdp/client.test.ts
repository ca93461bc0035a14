import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ScriptedBroker } from '../../test/mdp/scripted-broker.js';
import { A, B, echo, silence, Stage, text } from '../../test/mdp/stage.js';
import type { MdpClientOptions, MdpRequestOptions } from './options.js';
import { MdpClient } from './client.js';

describe('request', () => {
  it('rule 8: resolves to the frames of the final reply, as Buffers', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.final('a', '', new Uint8Array([0, 255])));
    const reply = await stage.settle(stage.client().request('echo', 'hi'));
    expect(reply).toEqual([Buffer.from('a'), Buffer.alloc(0), Buffer.from([0, 255])]);
    expect(reply.every((frame) => Buffer.isBuffer(frame))).toBe(true);
  });

  it.each([
    ['text', 'grün', 'grün'],
    ['bytes', new Uint8Array([104, 105]), 'hi'],
    ['a Buffer', Buffer.from('hi'), 'hi'],
    ['several frames of both', ['a', Buffer.from('b'), ''], 'a|b|'],
  ])('accepts %s as body', async (_, body, expected) => {
    const stage = new Stage();
    await stage.broker(echo);
    expect(text(await stage.settle(stage.client().request('echo', body)))).toBe(expected);
  });

  it.each(['0.1', '0.2'] as const)('rule 1: speaks version %s', async (version) => {
    const stage = new Stage();
    const broker = await stage.broker(echo);
    expect(text(await stage.settle(stage.client({ version }).request('echo', ['a', 'b'])))).toBe('a|b');
    expect(broker.asked.map(({ request }) => request.version)).toEqual([version]);
    expect(broker.nonsense).toEqual([]);
  });

  it('rule 2: does not mix up replies, in any order', async () => {
    const stage = new Stage();
    const held: (() => void)[] = [];
    await stage.broker((asked) => {
      held.push(() => echo(asked));
      if (held.length === 4) for (const answer of held.splice(0).reverse()) answer();
    });
    const client = stage.client({ sockets: 4 });
    const calls = Array.from({ length: 40 }, (_, i) => client.request('echo', `body ${i}`));
    const replies = await stage.settle(Promise.all(calls));
    expect(replies.map(text)).toEqual(calls.map((_, i) => `body ${i}`));
    expect(client.stats()).toMatchObject({ lanes: 4, busy: 0, waiting: 0, calls: 40, sends: 40, finals: 40 });
  });

  it('is not disturbed by partial replies', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.partial('one');
      asked.partial('two');
      asked.final('end');
    });
    expect(text(await stage.settle(stage.client().request('echo', 'x')))).toBe('end');
  });

  it.each([
    ['another service', (service: string) => ['MDPC02', '\x03', `${service}x`, 'wrong']],
    ['no body', (service: string) => ['MDPC02', '\x03', service]],
    ['another header', (service: string) => ['MDPC03', '\x03', service, 'wrong']],
    ['the other version', (service: string) => ['', 'MDPC01', service, 'wrong']],
    ['a worker command', () => ['MDPW02', '\x05']],
    ['nothing', () => ['']],
  ])('rule 3: drops a reply with %s and keeps waiting', async (_, frames) => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.raw(frames(asked.service).map((frame) => Buffer.from(frame)));
      asked.final('right');
    });
    const client = stage.client();
    expect(text(await stage.settle(client.request('echo', 'x')))).toBe('right');
    expect(Object.values(client.stats().dropped)).toEqual([1]);
  });

  it('drops a reply over the limits and keeps waiting', async () => {
    const stage = new Stage();
    await stage.broker((asked) => {
      asked.final(...Array.from({ length: 20 }, () => 'x'));
      asked.final('small');
    });
    const client = stage.client({ maxMessageFrames: 10 });
    expect(text(await stage.settle(client.request('echo', 'x')))).toBe('small');
    expect(client.stats().dropped).toEqual({ 'too-many-frames': 1 });
  });

  it('refuses calls beyond `waitingMax` at once', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const client = stage.client({ sockets: 1, waitingMax: 1 });
    void client.request('echo', '1').catch(() => {});
    void client.request('echo', '2').catch(() => {});
    await expect(stage.settle(client.request('echo', '3'))).rejects.toMatchObject({
      code: 'QUEUE_FULL',
      message: expect.stringContaining('service "echo"') as string,
    });
    expect(stage.network.clock.now()).toBe(0);
  });
});

describe('silence', () => {
  it('rule 4: rejects with TIMEOUT and what was tried', async () => {
    const stage = new Stage();
    const broker = await stage.broker(silence);
    const client = stage.client({ endpoints: [A, B], timeoutMs: 1000, tries: 3 });
    await expect(stage.settle(client.request('echo', 'x'))).rejects.toMatchObject({
      name: 'ProjError',
      code: 'TIMEOUT',
      message: `service "echo": no answer to 3 sends in 3000 ms (${A}, ${B}, ${A}); ${B}: not connected: connect ECONNREFUSED ${B}; ${A}: connected, but it did not answer`,
      details: { endpoints: [A, B, A], tries: 3, totalMs: 3000 },
    });
    expect(broker.asked).toHaveLength(2);
    expect(new Set(broker.asked.map(({ peer }) => peer.key)).size).toBe(2);
  });

  it('resends and returns the answer to the second send', async () => {
    const stage = new Stage();
    let asks = 0;
    await stage.broker((asked) => ++asks > 1 && asked.final(`answer ${asks}`));
    expect(text(await stage.settle(stage.client().request('echo', 'x')))).toBe('answer 2');
  });

  it.each<[string, MdpRequestOptions, number]>([
    ['tries 1', { tries: 1 }, 1],
    ['tries 2', { tries: 2 }, 2],
    ['retries 0', { retries: 0 }, 1],
    ['retries 4', { retries: 4 }, 5],
    ['neither', {}, 3],
  ])('counts sends: %s', async (_, options, sends) => {
    const stage = new Stage();
    const broker = await stage.broker(silence);
    const call = stage.client().request('echo', 'x', { timeoutMs: 100, ...options });
    await expect(stage.settle(call)).rejects.toMatchObject({ code: 'TIMEOUT', details: { tries: sends } });
    const asked = broker.asked.map(({ service }) => service);
    expect(asked).toEqual([...new Array<string>(sends).fill('echo'), 'mmi.service']);
  });

  it('rule 6: fails over to the next broker and stays there', async () => {
    const stage = new Stage();
    const broker = await stage.broker(echo, B);
    const client = stage.client({ endpoints: [A, B], timeoutMs: 1000 });
    expect(text(await stage.settle(client.request('echo', 'x')))).toBe('x');
    const since = stage.network.clock.now();
    expect(text(await stage.settle(client.request('echo', 'y')))).toBe('y');
    expect(stage.network.clock.now() - since).toBeLessThan(100);
    expect(broker.asked).toHaveLength(2);
  });

  it('rule 9: a pair of brokers that do not know each other take over from one another', async () => {
    const stage = new Stage();
    const [one, two] = [stage.network.transport('one'), stage.network.transport('two')];
    await ScriptedBroker.start(one, A, (asked) => asked.final('one'));
    await ScriptedBroker.start(two, B, (asked) => asked.final('two'));
    const client = stage.client({ endpoints: [A, B] });
    const ask = async () => text(await stage.settle(client.request('echo', 'x')));
    expect(await ask()).toBe('one');
    stage.network.crash(one);
    expect(await ask()).toBe('two');
    expect(await ask()).toBe('two');
    await ScriptedBroker.start(stage.network.transport('one'), A, (asked) => asked.final('one again'));
    stage.network.crash(two);
    expect(await ask()).toBe('one again');
  });

  it('to a crashed broker ends with its restart', async () => {
    const stage = new Stage();
    const process = stage.network.transport('broker');
    await ScriptedBroker.start(process, A, (asked) => asked.service === 'echo' && echo(asked));
    const client = stage.client();
    await stage.settle(client.request('echo', 'x'));
    const call = client.request('other', 'y');
    await stage.advance(10);
    stage.network.crash(process);
    await stage.broker(echo, A, 'broker');
    expect(text(await stage.settle(call))).toBe('y');
  });
});

describe('abort', () => {
  it('rule 5: rejects with the reason of the signal and closes the socket', async () => {
    const stage = new Stage();
    await stage.broker(silence);
    const client = stage.client();
    const abort = new AbortController();
    const call = stage.settle(client.request('echo', 'x', { signal: abort.signal }));
    await stage.advance(10);
    expect(client.stats().lanes).toBe(1);
    const reason = new Error('enough');
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(client.stats()).toMatchObject({ lanes: 0, busy: 0, aborts: 1 });
  });

  it('before the call: nothing is sent', async () => {
    const stage = new Stage();
    const broker = await stage.broker(echo);
    const signal = AbortSignal.abort('no');
    await expect(stage.settle(stage.client().request('echo', 'x', { signal }))).rejects.toBe('no');
    await stage.advance(100);
    expect(broker.asked).toEqual([]);
  });

  it('before the transport is loaded: nothing is sent', async () => {
    const stage = new Stage();
    const broker = await stage.broker(echo);
    const abort = new AbortController();
    const call = stage.client().request('echo', 'x', { signal: abort.signal });
    abort.abort('never mind');
    await expect(stage.settle(call)).rejects.toBe('never mind');
    await stage.advance(100);
    expect(broker.asked).toEqual([]);
  });

  it('of a waiting call leaves the others alone', async () => {
    const stage = new Stage();
    await stage.broker(echo);
    const client = stage.client({ sockets: 1 });
    const abort = new AbortController();
    const calls = ['a', 'b', 'c'].map((body) =>
      client.request('echo', body, { signal: body === 'b' ? abort.signal : undefined }),
    );
    abort.abort('b');
    const [a, b, c] = await stage.settle(Promise.allSettled(calls));
    expect([a, c].map((outcome) => outcome?.status)).toEqual(['fulfilled', 'fulfilled']);
    expect(b).toEqual({ status: 'rejected', reason: 'b' });
  });

  it('leaves no listener behind, whatever the outcome', async () => {
    const stage = new Stage();
    await stage.broker((asked) => asked.service === 'echo' && echo(asked));
    const client = stage.client();
    const { signal } = new AbortController();
    await stage.settle(client.request('echo', 'x', { signal }));
    await stage.settle(client.request('mute', 'x', { signal, tries: 1 }).catch(() => {}));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('invalid calls', () => {
  it.each<[string, MdpClientOptions, string]>([
    ['an unknown option', { timeoutMS: 5 } as MdpClientOptions, 'timeoutMS'],
    ['no endpoint', { endpoints: [] }, 'endpoints'],
    ['a bad endpoint', { endpoints: ['localhost:5555'] }, 'option endpoints.0 = "localhost:5555": '],
    ['no time', { timeoutMs: 0 }, 'option timeoutMs = 0: '],
    ['no try', { tries: 0 }, 'option tries = 0: '],
    ['half a socket', { sockets: 0.5 }, 'option sockets = 0.5: '],
    ['another version', { version: '0.3' as '0.2' }, 'option version = "0.3": '],
    ['a false transport', { transport: {} as never }, 'option transport = an object: '],
  ])('options: %s', (_, options, message) => {
    expect(() => new MdpClient(options)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }) as Error);
    expect(() => new MdpClient(options)).toThrow(message);
  });

  it.each<[string, MdpRequestOptions, string]>([
    ['tries and retries', { tries: 2, retries: 1 }, 'retries'],
    ['negative retries', { retries: -1 }, 'retries'],
    ['no time', { timeoutMs: 0 }, 'timeoutMs'],
    ['an unknown option', { retry: 1 } as MdpRequestOptions, 'retry'],
    ['a false signal', { signal: {} as AbortSignal }, 'signal'],
  ])('request options: %s', async (_, options, message) => {
    const stage = new Stage();
    const client = stage.client();
    await expect(client.request('echo', 'x', options)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(client.request('echo', 'x', options)).rejects.toThrow(message);
    await expect(client.stream('echo', 'x', options).next()).rejects.toThrow(message);
  });

  it.each([
    ['an empty service name', '', 'x'],
    ['a service name with a line end', 'a\n', 'x'],
    ['a service name that is too long', 'x'.repeat(256), 'x'],
    ['a body without frames', 'echo', []],
    ['a body of numbers', 'echo', [1] as never],
    ['no body', 'echo', undefined as never],
    ['more frames than the limit', 'echo', Array.from({ length: 8 }, () => 'x')],
    ['more bytes than the limit', 'echo', Buffer.alloc(2049)],
  ])('%s: PROTOCOL_LOCAL, and nothing is sent', async (_, service, body) => {
    const stage = new Stage();
    const client = stage.client({ maxMessageFrames: 10, maxMessageBytes: 2048 });
    await expect(client.request(service, body)).rejects.toMatchObject({ code: 'PROTOCOL_LOCAL' });
    await expect(client.stream(service, body).next()).rejects.toMatchObject({ code: 'PROTOCOL_LOCAL' });
    expect(client.stats().calls).toBe(0);
  });
});
