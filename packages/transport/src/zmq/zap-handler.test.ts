import { systemClock } from '@proj/heartbeat';
import { afterEach, describe, expect, it } from 'vitest';
import { Context, Dealer, Router } from 'zeromq';
import { ZapHandler } from './zap-handler.js';
import type { ZapDoor, ZapSocket } from './zap-handler.js';

const KEY = Buffer.alloc(32, 7);
const handlers: { handler: ZapHandler; domains: string[] }[] = [];
const askers: Dealer[] = [];
afterEach(async () => {
  for (const asker of askers.splice(0)) asker.close();
  for (const { handler, domains } of handlers.splice(0)) for (const domain of domains) await handler.unregister(domain);
});

function handlerIn(context: Context, doors: Partial<ZapDoor>[] = [{}]) {
  const open = () => new Router({ context, linger: 0, sendTimeout: 0 }) as unknown as ZapSocket;
  const handler = new ZapHandler(open, systemClock);
  const domains = doors.map((door) => handler.register({ admits: () => true, onFailed: () => undefined, ...door }));
  handlers.push({ handler, domains });
  return { handler, domains };
}

/** A peer at the endpoint of the handler: libzmq, or any other code of this process. */
function askerIn(context: Context) {
  const dealer = new Dealer({ context, linger: 0 });
  askers.push(dealer);
  dealer.connect('inproc://zeromq.zap.01');
  return {
    dealer,
    ask: async (domain: string): Promise<string | undefined> => {
      await dealer.send(['', '1.0', '1', domain, '127.0.0.1', '', 'CURVE', KEY]);
      for (;;) {
        const answer = await dealer.receive();
        if (String(answer[2]) === '1') return String(answer[3]);
      }
    },
  };
}

describe('the handler of ZAP', () => {
  it('answers for each door by its own domain', async () => {
    const context = new Context({ blocky: false });
    const { handler, domains } = handlerIn(context, [{}, { admits: () => false }]);
    await handler.start();
    const { ask } = askerIn(context);

    expect([await ask(domains[0]!), await ask(domains[1]!), await ask('another')]).toEqual(['200', '400', '400']);
  });

  it('C2: survives anything at its endpoint, and counts what was not a question', async () => {
    const context = new Context({ blocky: false });
    const { handler, domains } = handlerIn(context);
    await handler.start();
    const { dealer, ask } = askerIn(context);
    const garbage = [[''], ['x'], ['', '1.0'], ['', '1.0', '2', '', '', '', 'CURVE', 'short'], Array(200).fill('y')];
    for (const frames of garbage) await dealer.send(frames as string[]);

    expect(await ask(domains[0]!)).toBe('200');
    expect(handler.malformed).toBe(garbage.length);
  });

  it('ends with its last door, and begins again with the next', async () => {
    const context = new Context({ blocky: false });
    const { handler, domains } = handlerIn(context);
    for (let round = 0; round < 20; round++) {
      await handler.start();
      await handler.unregister(domains[0]!);
      domains[0] = handler.register({ admits: () => true, onFailed: () => undefined });
    }
    await handler.start();

    expect(await askerIn(context).ask(domains[0]!)).toBe('200');
  });

  it('stays while one of its doors is left', async () => {
    const context = new Context({ blocky: false });
    const { handler, domains } = handlerIn(context, [{}, {}]);
    await handler.start();
    await handler.unregister(domains[0]!);

    expect(await askerIn(context).ask(domains[1]!)).toBe('200');
  });

  it('refuses to start where its endpoint cannot be bound', async () => {
    const socket = {
      bind: () => Promise.reject(Object.assign(new Error('EACCES'), { code: 'EACCES' })),
      receive: () => new Promise<Uint8Array[]>(() => undefined),
      send: () => Promise.resolve(),
      close: () => undefined,
    };
    const handler = new ZapHandler(() => socket, systemClock);
    handlers.push({ handler, domains: [handler.register({ admits: () => true, onFailed: () => undefined })] });

    await expect(handler.start()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('tells every door when its socket fails', async () => {
    const told: string[] = [];
    let fail: (error: Error) => void = () => undefined;
    const broken = {
      bind: () => Promise.resolve(),
      receive: () =>
        new Promise<Uint8Array[]>((_, reject) => {
          fail = reject;
        }),
      send: () => Promise.resolve(),
      close: () => undefined,
    };
    const handler = new ZapHandler(() => broken, systemClock);
    const door = (name: string): ZapDoor => ({
      admits: () => true,
      onFailed: (error) => told.push(name + String(error)),
    });
    const domains = [handler.register(door('a ')), handler.register(door('b '))];
    handlers.push({ handler, domains });
    await handler.start();
    fail(new Error('gone'));
    await new Promise((resolve) => setImmediate(resolve));

    expect(told).toEqual(['a Error: gone', 'b Error: gone']);
  });
});
