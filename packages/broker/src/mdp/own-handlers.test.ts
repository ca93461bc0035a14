/** Services inside a broker, the facade over the network in memory: sockets and time are virtual, everything else is what users run. */
import { fromLatin1 } from '@proj/frames';
import { decodeFault, defineService } from '@proj/frames/service';
import { ManualClock } from '@proj/heartbeat';
import { ProjError } from '@proj/transport';
import type { HandlerContext } from '@proj/transport/service';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { peerNamed } from '../../test/keyed.js';
import { TextPeer } from '../../test/raw-peer.js';
import { MdpBroker } from './broker.js';
import type { MdpOwnEvent } from './engine/events.js';
import { mdpBrokerOptions, type MdpBrokerOptions, type MdpServeOptions } from './options.js';
import { OwnHandlers } from './own-handlers.js';

const ENDPOINT = 'tcp://sim:5555';
const NOTHING: unknown = undefined;

let network: VirtualNetwork;
let broker: MdpBroker;
let peers: TextPeer[];

beforeEach(() => {
  network = new VirtualNetwork({ seed: 1 });
  peers = [];
  make();
});

afterEach(async () => {
  await settle(network.clock, Promise.all([broker.close(), ...peers.map((peer) => peer.close())]));
  expect(network.clock.armed).toBe(0);
});

function make(options: MdpBrokerOptions = {}): void {
  broker = new MdpBroker({ endpoint: ENDPOINT, transport: network.transport('broker'), lingerMs: 0, ...options });
}

const start = () => settle(network.clock, broker.start());

function peer(name: string): TextPeer {
  const made = TextPeer.connect(network.transport(name), ENDPOINT);
  peers.push(made);
  return made;
}

const next = (of: TextPeer) => settle(network.clock, of.next());

/** Sends a request as a new client of 0.2. */
function ask(service: string, ...body: string[]): TextPeer {
  const client = peer(`client-${peers.length}`);
  client.send('MDPC02', '\x01', service, ...body);
  return client;
}

/** A handler that passes its context to the test and ends when the test says so. */
class Held {
  readonly contexts: HandlerContext[] = [];
  readonly #ends: ((reply: string) => void)[] = [];
  #onCall: () => void = () => undefined;

  readonly handler = (_request: unknown, context: HandlerContext): Promise<string> => {
    this.contexts.push(context);
    this.#onCall();
    return new Promise((resolve) => this.#ends.push(resolve));
  };

  /** Resolves when it has been called this often. */
  async calls(count: number): Promise<void> {
    while (this.contexts.length < count) await settle(network.clock, new Promise<void>((go) => (this.#onCall = go)));
  }

  end(call: number, reply: string): void {
    this.#ends[call]?.(reply);
  }
}

describe('rule 29: MdpBroker serves requests itself', () => {
  it('rule 29: from its start on; services added later from then on', async () => {
    broker.serve('echo', ({ service, body }) => [service, ...body]);
    await start();
    broker.serve('time', () => 'noon');
    expect(await next(ask('echo', 'two', 'frames'))).toEqual(['MDPC02', '\x03', 'echo', 'echo', 'two', 'frames']);
    expect(await next(ask('time', ''))).toEqual(['MDPC02', '\x03', 'time', 'noon']);
    expect(await next(ask('mmi.service', 'time'))).toEqual(['MDPC02', '\x03', 'mmi.service', '200']);
  });

  it('rule 29: by a generator, whose parts a 0.1 client gets in one reply', async () => {
    broker.serve('count', async function* ({ body }) {
      yield [String(body[0]), '1'];
      yield '2';
      return '3';
    });
    await start();
    const client = ask('count', 'to');
    const told = [await next(client), await next(client), await next(client)];
    expect(told.map((frames) => frames.slice(1))).toEqual([
      ['\x02', 'count', 'to', '1'],
      ['\x02', 'count', '2'],
      ['\x03', 'count', '3'],
    ]);
    const old = peer('old');
    old.send('', 'MDPC01', 'count', 'to');
    expect(await next(old)).toEqual(['', 'MDPC01', 'count', 'to', '1', '2', '3']);
  });

  it('rule 29: returning nothing is one empty frame', async () => {
    broker.serve('void', () => undefined);
    await start();
    expect(await next(ask('void', 'x'))).toEqual(['MDPC02', '\x03', 'void', '']);
  });

  it('rule 29: as many at a time as concurrency says', async () => {
    const held = new Held();
    broker.serve('slow', held.handler, { concurrency: 2 });
    await start();
    const clients = ['1', '2', '3'].map((body) => ask('slow', body));
    await held.calls(2);
    await advance(network.clock, 1000);
    expect(held.contexts).toHaveLength(2);
    held.end(0, 'done');
    expect((await next(clients[0] as TextPeer))[3]).toBe('done');
    await held.calls(3);
  });

  it('rule 29: typed services, whose refusals are error replies', async () => {
    const sum = defineService({ name: 'sum', request: z.array(z.number()), reply: z.number() });
    broker.serve(sum, ({ input }) => {
      expectTypeOf(input).toEqualTypeOf<number[]>();
      if (input.length === 0) throw new ProjError('REJECTED', 'nothing to add');
      return input.reduce((a, b) => a + b);
    });
    await start();
    expect((await next(ask('sum', '[1,2,3]'))).slice(3)).toEqual(['6']);
    const faults = [await next(ask('sum', '"x"')), await next(ask('sum', '[]'))].map((frames) =>
      decodeFault(frames.slice(3).map(fromLatin1)),
    );
    expect(faults).toMatchObject([{ code: 'REQUEST_INVALID' }, { code: 'REJECTED', message: 'nothing to add' }]);
  });

  it('rule 29: a typed service with partial replies only for clients of 0.2', async () => {
    const parts = defineService({ name: 'parts', request: z.number(), reply: z.number(), partial: z.number() });
    broker.serve(parts, async function* ({ input }) {
      yield input;
      return input + 1;
    });
    await start();
    expect(broker.stats().services.map(({ version }) => version)).toEqual(['0.2']);
    const client = ask('parts', '1');
    expect([(await next(client))[3], (await next(client))[3]]).toEqual(['1', '2']);
  });

  it('rule 29: beside workers of the same name', async () => {
    broker.serve('echo', () => 'broker');
    await start();
    const worker = peer('w1');
    const registered = new Promise((resolve) => broker.on('worker-ready', resolve));
    worker.send('MDPW02', '\x01', 'echo');
    await settle(network.clock, registered);
    const first = ask('echo', '1');
    const [, , address = ''] = await next(worker);
    expect((await next(ask('echo', '2')))[3]).toBe('broker');
    worker.send('MDPW02', '\x04', address, '', 'worker');
    expect((await next(first))[3]).toBe('worker');
  });
});

describe('rule 29: a handler that throws', () => {
  const failing = (options: MdpServeOptions = {}): unknown[] => {
    make({ maxAttempts: 2 });
    const errors: unknown[] = [];
    broker.on('error', ({ service, error }) => errors.push([service, (error as Error).message]));
    const handler = ({ body }: { body: Buffer[] }) => {
      if (String(body[0]) === 'poison') throw new Error('bad luck');
      return 'fine';
    };
    broker.serve('echo', handler, options);
    return errors;
  };

  it('rule 29: is an event, gets the request maxAttempts times, and continues', async () => {
    const errors = failing();
    await start();
    const dropped = new Promise((resolve) => broker.on('note', resolve));
    ask('echo', 'poison');
    expect(await settle(network.clock, dropped)).toMatchObject({ reason: 'attempts-exhausted', service: 'echo' });
    expect(errors).toEqual([
      ['echo', 'bad luck'],
      ['echo', 'bad luck'],
    ]);
    expect((await next(ask('echo', 'x')))[3]).toBe('fine');
  });

  it('rule 29: may answer by onError', async () => {
    const errors = failing({ onError: (error, { body }) => [`${(error as Error).message}:`, ...body] });
    await start();
    expect((await next(ask('echo', 'poison'))).slice(3)).toEqual(['bad luck:', 'poison']);
    expect(errors).toHaveLength(1);
  });

  it('rule 29: sends no reply if onError throws as well', async () => {
    const errors = failing({
      onError: () => {
        throw new Error('worse');
      },
    });
    await start();
    const dropped = new Promise((resolve) => broker.on('note', resolve));
    ask('echo', 'poison');
    await settle(network.clock, dropped);
    expect(errors.flat().filter((word) => word === 'worse')).toHaveLength(2);
  });

  it('rule 29: a reply over the limits of a message counts as one', async () => {
    make({ maxMessageFrames: 8, maxAttempts: 1 });
    const failed = new Promise((resolve) => broker.on('error', resolve));
    broker.serve('echo', () => ['1', '2', '3', '4', '5']);
    await start();
    ask('echo', 'x');
    expect(await settle(network.clock, failed)).toMatchObject({ service: 'echo', error: { code: 'PROTOCOL_LOCAL' } });
  });
});

describe('rule 29: a handler’s signal', () => {
  it('rule 29: aborts with PEER_LOST when the client is gone', async () => {
    const held = new Held();
    broker.serve('slow', held.handler);
    await start();
    const client = ask('slow', 'x');
    await held.calls(1);
    const { signal, partial } = held.contexts[0] as HandlerContext;
    const aborted = new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    await settle(network.clock, client.close());
    await settle(network.clock, aborted);
    expect(signal.reason).toMatchObject({ code: 'PEER_LOST' });
    await expect(partial('late')).rejects.toBe(signal.reason);
    held.end(0, 'late');
    await advance(network.clock, 1);
    expect(broker.stats()).toMatchObject({ openRequests: 0, services: [{ busy: 0 }, { busy: 0 }] });
  });

  it('rule 29: aborts with CLOSED when the broker closes, which does not wait', async () => {
    const held = new Held();
    broker.serve('slow', held.handler);
    await start();
    ask('slow', 'x');
    await held.calls(1);
    await settle(network.clock, broker.close());
    expect(held.contexts[0]?.signal.reason).toMatchObject({ code: 'CLOSED' });
    held.end(0, 'late');
  });

  it('rule 29: a drain waits for handlers, and their replies are sent', async () => {
    make({ lingerMs: 1000 });
    const held = new Held();
    broker.serve('slow', held.handler);
    await start();
    const client = ask('slow', 'x');
    await held.calls(1);
    const drained = broker.drain();
    await advance(network.clock, 5000);
    expect(held.contexts[0]?.signal.aborted).toBe(false);
    held.end(0, 'done');
    expect((await next(client))[3]).toBe('done');
    await settle(network.clock, drained);
  });

  it('rule 29: but no longer than drainMs', async () => {
    make({ drainMs: 500 });
    const held = new Held();
    broker.serve('slow', held.handler);
    await start();
    ask('slow', 'x');
    await held.calls(1);
    const before = network.clock.now();
    await settle(network.clock, broker.drain());
    expect(network.clock.now() - before).toBeLessThan(600);
    expect(held.contexts[0]?.signal.reason).toMatchObject({ code: 'CLOSED' });
    held.end(0, 'late');
  });
});

describe('rule 29: stopped', () => {
  it('rule 29: before the start it never existed', async () => {
    const stop = broker.serve('echo', () => 'x');
    await stop();
    await start();
    expect(broker.stats().services).toEqual([]);
  });

  it('rule 29: it resolves when the last handler has ended, and the name is free again', async () => {
    const held = new Held();
    const stop = broker.serve('slow', held.handler);
    await start();
    const client = ask('slow', 'x');
    await held.calls(1);
    const stopped = stop();
    expect(stop()).toBe(stopped);
    expect(() => broker.serve('slow', () => 'y')).toThrow('already served');
    held.end(0, 'done');
    await settle(network.clock, stopped);
    expect((await next(client))[3]).toBe('done');
    expect(broker.stats().services).toEqual([]);
    broker.serve('slow', () => 'y');
    expect((await next(ask('slow', 'x')))[3]).toBe('y');
  });
});

describe('rule 29: refuses', () => {
  it.each<[string, () => unknown, string]>([
    ['a reserved name', () => broker.serve('mmi.echo', () => 'x'), 'names that begin with mmi.'],
    ['an empty name', () => broker.serve('', () => 'x'), '1 to 255 printable ASCII characters'],
    ['a name of other letters', () => broker.serve('é', () => 'x'), 'printable ASCII'],
    ['a long name', () => broker.serve('x'.repeat(256), () => 'x'), 'serviceNameMaxBytes'],
    ['nothing', () => broker.serve(NOTHING as string, () => 'x'), '1 to 255'],
    ['no handler', () => broker.serve('x', 'y' as never), 'the handler is string'],
    ['concurrency 0', () => broker.serve('x', () => 'x', { concurrency: 0 }), 'concurrency'],
    ['concurrency 1001', () => broker.serve('x', () => 'x', { concurrency: 1001 }), 'concurrency'],
    ['an unknown option', () => broker.serve('x', () => 'x', { other: 1 } as never), 'other'],
  ])('rule 29: %s', (_what, serve, message) => {
    expect(serve).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }) as never);
    expect(serve).toThrow(message);
  });

  it('rule 29: more than servicesMax', () => {
    make({ servicesMax: 1 });
    broker.serve('x', () => 'x');
    expect(() => broker.serve('y', () => 'y')).toThrow('servicesMax');
  });

  it('rule 29: after close', async () => {
    await broker.close();
    expect(() => broker.serve('x', () => 'x')).toThrow(expect.objectContaining({ code: 'CLOSED' }) as never);
  });
});

describe('rule 29: partial replies', () => {
  it('rule 29: wait while 64 messages wait for a client that does not read', async () => {
    const clock = new ManualClock();
    const events: MdpOwnEvent[] = [];
    let pending = 64;
    const own = new OwnHandlers(mdpBrokerOptions.parse({}), {
      clock,
      dispatch: (event) => events.push(event),
      pendingFor: () => pending,
      onError: () => undefined,
    });
    let sent = 0;
    own.serve(
      'parts',
      async (_request, { partial }) => {
        for (; sent < 2; sent++) await partial('x');
      },
      {},
    );
    own.run({ kind: 'run', run: 1, service: 1, client: peerNamed('c1'), version: '0.2', body: [fromLatin1('x')] });
    await advance(clock, 100);
    expect(sent).toBe(0);
    pending = 63;
    await advance(clock, 100);
    expect(sent).toBe(2);
    expect(events.map(({ kind }) => kind)).toEqual(['serve', 'own-partial', 'own-partial', 'own-final']);
  });
});
