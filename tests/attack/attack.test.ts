/** Every attack in its small size, one after the other, on programs that survive all of them: `npm run attack` runs the full size. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROTOCOL_NAMES, PROTOCOLS } from '../protocols.js';
import type { Protocol } from '../protocols.js';
import { TRANSPORT } from '../transport.js';
import { protocolOf } from './attack.js';
import type { Flags, Variant } from './attack.js';
import { ATTACKS } from './attacks.js';
import { bundle } from './bundle.mjs';
import { APPS, Attacker, Others, Target } from './cast.js';

const MIB = 2 ** 20;
/** Slow enough for a busy machine. */
const PACE = { everyMs: 50, openMax: 10 };
/** What all small attacks together may add to an idle program, including libzmq's buffers. */
const GROWTH_MAX = 300 * MIB;

describe.each<{ program: string; protocols: readonly Protocol[]; ownFlags: Flags; variant?: Variant }>([
  {
    program: 'proj-broker',
    protocols: PROTOCOL_NAMES.filter((name) => PROTOCOLS[name].program === 'broker'),
    ownFlags: {},
  },
  { program: 'proj-broker with CURVE', protocols: ['mdp'], ownFlags: {}, variant: 'encrypted' },
  { program: 'proj-broker whose log nobody reads', protocols: ['mdp'], ownFlags: {}, variant: 'unread' },
  // libzmq withstands none of its attacks.
  ...(TRANSPORT === 'zmtp'
    ? [{ program: 'proj-broker with 256 MiB', protocols: ['mdp' as const], ownFlags: {}, variant: 'small' as const }]
    : []),
  // Messages that consumers took but never acknowledge come back soon, so that the end need not wait for them.
  { program: 'proj-queue', protocols: ['pzq'], ownFlags: { 'ack-timeout-ms': 1000 } },
])('$program under attack', ({ protocols, ownFlags, variant }) => {
  const attacks = ATTACKS.filter(
    (attack) =>
      attack.variant === variant &&
      protocols.includes(protocolOf(attack)) &&
      (TRANSPORT === 'zmtp' || attack.onZmq === undefined),
  );
  const flags = Object.assign({}, ownFlags, ...attacks.map((attack) => attack.flags)) as Flags;
  const ends: (() => PromiseLike<unknown>)[] = [];
  const keep = <T extends AsyncDisposable>(one: T): T => {
    ends.push(() => one[Symbol.asyncDispose]());
    return one;
  };
  let target: Target;
  let others: Others;
  let attacker: Attacker;
  let idleBytes: number;

  beforeAll(async () => {
    const programs = await bundle(['attacker', 'honest']);
    ends.push(() => programs.remove());
    target = keep(await Target.start(APPS, protocols[0]!, TRANSPORT, flags, variant));
    target.begin();
    idleBytes = target.memory()?.now ?? 0;
    const plan = {
      protocols,
      endpoints: target.endpoints,
      transport: TRANSPORT,
      keys: target.keys,
      ...PACE,
      warmUpMs: 0,
    };
    others = keep(new Others(programs.folder, plan));
    attacker = keep(new Attacker(programs.folder));
    await others.ready();
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  /** Resolves when every client has been answered again, with what was lost since the last time. */
  async function lost(): Promise<readonly string[]> {
    const why: string[] = [];
    const silent = new Set(protocols);
    while (silent.size > 0) {
      for (const [protocol, notes] of Object.entries(await others.notes())) {
        if (notes.answered > 0) silent.delete(protocol as Protocol);
        if (notes.lost > 0) why.push(`${protocol}: ${notes.lost} lost: ${notes.why.join('; ')}`);
      }
    }
    return why;
  }

  it.each(attacks.map(({ name, does }) => [name, does] as const))('%s: %s', async (name) => {
    const alive = <T>(promise: Promise<T>): Promise<T> => Promise.race([promise, target.process.lost()]);
    const facts = await alive(attacker.run(name, target));
    expect([...facts, ...(await alive(lost()))]).toEqual([]);
  });

  it('after all attacks, memory is within its bound, and the program ends normally', async () => {
    expect((target.memory()?.peak ?? 0) - idleBytes).toBeLessThan(GROWTH_MAX);
    target.end();
    target.process.kill('SIGTERM');
    expect(await target.process.exit).toMatchObject({ code: 0 });
  });
});
