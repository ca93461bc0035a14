import dns from 'node:dns';
import type { PortListener, ProjError, SocketPort, Transport } from '@proj/transport';
import { generateCurveKeys } from '@proj/transport/curve';
import type { ClientCurve } from '@proj/transport/curve';
import { zmtpTransport } from '@proj/zmtp';
import { describe, expect, it, vi } from 'vitest';
import { accepting, Stage } from '../test/emqp/stage.js';
import { A, B, ClientWorld } from '../test/world.js';
import { EmqpClient } from './emqp/client.js';

import { MdpClient } from './mdp/client.js';
import { NfpClient } from './nfp/client.js';
import { PzqProducer } from './pzq/producer.js';
import { LazyPirateClient } from './ppp/client.js';

const SERVER = generateCurveKeys();
const OTHER = generateCurveKeys();
const IGNORED: PortListener = {
  onMessage: () => undefined,
  onPeerGone: () => undefined,
  onUndeliverable: () => undefined,
  onRejected: () => undefined,
  onBroken: () => undefined,
};

interface Settings {
  readonly endpoints: string[];
  readonly transport: Transport;
  readonly timeoutMs: number;
  readonly curve?: ClientCurve;
}

interface Caller {
  ask(): Promise<unknown>;
  close(): Promise<void>;
}

/** One call that ends after `timeoutMs`. */
const CALLERS: Record<string, (settings: Settings) => Caller> = {
  'MDP request': (settings) => {
    const client = new MdpClient({ ...settings, tries: 1 });
    return { ask: () => client.request('echo', 'x'), close: () => client.close() };
  },
  'PPP request': (settings) => {
    const client = new LazyPirateClient({ ...settings, tries: 1 });
    return { ask: () => client.request('x'), close: () => client.close() };
  },
  'NFP job': ({ timeoutMs, ...settings }) => {
    const client = new NfpClient(settings);
    return { ask: () => client.run('s', 't', { timeoutMs }), close: () => client.close() };
  },
  'NFP question': ({ timeoutMs, ...settings }) => {
    const client = new NfpClient(settings);
    return { ask: () => client.showBroker({ timeoutMs }), close: () => client.close() };
  },
  'EMQP job': (settings) => {
    const client = new EmqpClient(settings);
    return { ask: () => client.defer('q', 'x'), close: () => client.close() };
  },
  'PZQ message': (settings) => {
    const producer = new PzqProducer(settings);
    return { ask: () => producer.send('x'), close: () => producer.close() };
  },
};
/** What is asked instead if nothing is known. */
const QUESTIONS: Record<string, RegExp> = {
  'NFP job': /; is a broker there, and does it accept clients without a key\?$/,
  'NFP question': /; is a broker there, and does it accept clients without a key\?$/,
  'EMQP job': /; is a broker there\?$/,
  'PZQ message': /; is a queue there\?$/,
};
const names = Object.keys(CALLERS);

/** How the call ends when all endpoints are silent. */
async function outcome(world: ClientWorld, name: string, settings: Partial<Settings> = {}): Promise<ProjError> {
  const caller = CALLERS[name]!({ endpoints: [A], transport: world.transport, timeoutMs: 1000, ...settings });
  const error = await world.settle(caller.ask().then(String, (error: unknown) => error));
  await world.settle(caller.close());
  expect(error).toMatchObject({ code: 'TIMEOUT' });
  return error as ProjError;
}

/** A router that answers nothing. */
async function silentRouter(world: ClientWorld, endpoint: string, options = {}): Promise<SocketPort> {
  const router = world.network.transport(endpoint).router(options);
  await router.bind(endpoint);
  router.start(IGNORED);
  return router;
}

describe.each(names)('the TIMEOUT of an %s', (name) => {
  it("names the endpoint that refused the connection, and the system's reason", async () => {
    const error = await outcome(new ClientWorld(), name);
    const reason = `not connected: connect ECONNREFUSED ${A}`;
    expect(error.message).toMatch(new RegExp(`; ${A}: ${reason}$`));
    expect(error.details).toMatchObject({ unmet: [{ endpoint: A, reason }] });
    expect(error.details).not.toHaveProperty('connected');
  });

  it('names the endpoint that refused the handshake, and why', async () => {
    const world = new ClientWorld();
    await silentRouter(world, A, { curve: { role: 'server', keys: SERVER, authorize: () => false } });
    const error = await outcome(world, name, { curve: { keys: OTHER, serverKey: SERVER.publicKey } });
    expect(error.message).toContain(`; ${A}: the server refused our key`);
    expect(error.details).toMatchObject({ unmet: [{ endpoint: A }] });
  });

  it('says that it is connected if no answer came', async () => {
    const world = new ClientWorld();
    await silentRouter(world, A);
    const error = await outcome(world, name);
    expect(error.message).toMatch(new RegExp(`; ${A}: connected, but it did not answer$`));
    expect(error.details).toMatchObject({ connected: [A] });
    expect(error.details).not.toHaveProperty('unmet');
  });

  it('claims nothing if the transport does not report it', async () => {
    const world = new ClientWorld();
    const { dealer } = world.transport;
    vi.spyOn(world.transport, 'dealer').mockImplementation((options) => {
      const port = dealer.call(world.transport, options);
      const { start } = port;
      port.start = (listener) => {
        const { onConnection: _, ...others } = listener;
        start.call(port, others);
      };
      return port;
    });
    const { message, details } = await outcome(world, name);
    expect(message).not.toContain('connected');
    expect(message).toMatch(QUESTIONS[name] ?? /\)$/);
    expect(Object.keys(details ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/unmet|connected/)]));
  });
});

it('the TIMEOUT of a result says that the job was accepted, and names the broker that is connected', async () => {
  const stage = new Stage();
  await stage.broker(accepting);
  const client = stage.client({ endpoints: [A, B], resultTimeoutMs: 1000 });
  const { result } = await stage.settle(client.defer('q', 'x', { replyRequested: true }));
  const error = await stage.settle(result.catch((error: unknown) => error));
  expect(error).toMatchObject({
    code: 'TIMEOUT',
    message: `job for queue "q": accepted, but no result within 1000 ms (${A}, ${B}); ${A}: connected, but it did not answer`,
  });
});

/** How these calls end on sockets, all at once. */
function messages(endpoint: string): Promise<string[]> {
  return Promise.all(
    names.map(async (name) => {
      const caller = CALLERS[name]!({ endpoints: [endpoint], transport: zmtpTransport(), timeoutMs: 300 });
      const error = await caller.ask().then(String, (error: unknown) => error);
      await caller.close();
      return (error as Error).message;
    }),
  );
}

describe('on sockets, a TIMEOUT', () => {
  it('names the endpoint that refused the connection, and later the one that is connected but silent', async () => {
    const free = zmtpTransport().router({ lingerMs: 0 });
    const endpoint = await free.bind('tcp://127.0.0.1:*');
    await free.close();
    for (const message of await messages(endpoint))
      expect(message).toContain(`; ${endpoint}: not connected: connect ECONNREFUSED`);
    const router = zmtpTransport().router({ lingerMs: 0 });
    await router.bind(endpoint);
    router.start(IGNORED);
    const silent = await messages(endpoint);
    await router.close();
    for (const message of silent) expect(message).toContain(`; ${endpoint}: connected, but it did not answer`);
  });

  it('names the endpoint whose name was not found', async () => {
    const cause = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.invalid'), { code: 'ENOTFOUND' });
    const answer = (_host: string, _options: unknown, callback: (error: Error) => void): void => {
      setImmediate(callback, cause);
    };
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(answer as typeof dns.lookup);
    const found = await messages('tcp://nowhere.invalid:5555');
    lookup.mockRestore();
    for (const message of found)
      expect(message).toContain('; tcp://nowhere.invalid:5555: not connected: getaddrinfo ENOTFOUND nowhere.invalid');
  });
});
