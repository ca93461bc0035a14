/** Our worker binds, our queue connects: on the in-memory network, without notice when the other side is gone. */
import { PppQueue } from '@proj/broker';
import { LazyPirateClient } from '@proj/client';
import { advance, settle, VirtualNetwork } from '@proj/transport/virtual';
import { PppWorker } from '@proj/worker';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const FRONTEND = 'tcp://queue:1';
const BINDS = ['tcp://worker:1', 'tcp://worker:2'];
const BEATS = { heartbeatIntervalMs: 100, liveness: 3 };

describe('our worker binds', () => {
  let network: VirtualNetwork;
  let members: { close(): Promise<unknown> }[];
  beforeEach(() => {
    network = new VirtualNetwork();
    members = [];
  });
  afterEach(async () => {
    for (const member of members.splice(0).reverse()) await settle(network.clock, member.close());
  });

  function keep<Member extends { close(): Promise<unknown> }>(member: Member): Member {
    members.push(member);
    return member;
  }

  async function queue(): Promise<PppQueue> {
    const transport = network.transport();
    const made = keep(new PppQueue({ transport, ...BEATS, frontend: FRONTEND, backendConnect: BINDS }));
    await settle(network.clock, made.start());
    return made;
  }

  async function worker(): Promise<PppWorker> {
    const transport = network.transport();
    const options = { transport, ...BEATS, reconnectMinMs: 50, reconnectMaxMs: 100, bind: BINDS, concurrency: 2 };
    const made = keep(new PppWorker({ ...options, handler: ({ body }) => body }));
    await settle(network.clock, made.start());
    return made;
  }

  async function ask(text: string): Promise<string> {
    const client = keep(
      new LazyPirateClient({ transport: network.transport(), endpoints: [FRONTEND], timeoutMs: 10_000 }),
    );
    return String(await settle(network.clock, client.request(text)));
  }

  it('rule 11: to a queue that comes much later, each session once', async () => {
    const bound = await worker();
    await advance(network.clock, 60_000);
    expect(bound.stats()).toMatchObject({ conversations: 0, lost: {} });
    const late = await queue();
    expect(await ask('x')).toBe('x');
    await advance(network.clock, 10_000);
    expect(bound.stats()).toMatchObject({ conversations: 2, replies: 1, lost: {} });
    expect(late.stats()).toMatchObject({ workers: 2, counters: { workersLost: 0 } });
  });

  it('rule 11: to a restarted queue', async () => {
    const bound = await worker();
    const first = await queue();
    expect(await ask('x')).toBe('x');
    // Wait until each session has received a heartbeat: before that there is no conversation.
    await advance(network.clock, 200);
    await settle(network.clock, first.close());
    await advance(network.clock, 5000);
    expect(bound.stats().lost).toEqual({ silent: 2 });
    const second = await queue();
    expect(await ask('y')).toBe('y');
    await advance(network.clock, 10_000);
    expect(bound.stats()).toMatchObject({ conversations: 4, replies: 2, lost: { silent: 2 } });
    expect(second.stats().workers).toBe(2);
  });

  it('rule 11: to a queue that returns before it was missed', async () => {
    const bound = await worker();
    await settle(network.clock, (await queue()).close());
    const second = await queue();
    expect(await ask('y')).toBe('y');
    await advance(network.clock, 10_000);
    expect(second.stats().workers).toBe(2);
    expect(bound.stats().replies).toBe(1);
  });

  it('rule 11: refuses to start at an endpoint in use, and leaves nothing bound', async () => {
    const other = network.transport().dealer();
    await other.bind(BINDS[1]!);
    await expect(worker()).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await settle(network.clock, other.close());
    await settle(network.clock, members.pop()!.close());
    expect((await worker()).stats().conversations).toBe(0);
  });
});
