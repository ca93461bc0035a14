/** One attack in full size on its own program, with honest clients before, during and after it. */
import { setTimeout as wait } from 'node:timers/promises';
import { protocolOf } from './attack.js';
import type { Attack, Flags } from './attack.js';
import { Attacker, Others, Ruler, Target } from './cast.js';
import type { Memory, TransportName } from './cast.js';
import type { Notes } from './honest/probe.js';
import { isGivenBack, kept } from './judge.js';
import type { Result } from './judge.js';

/** Where the programs are, and how long each phase takes, in milliseconds. */
export interface SiegePlan {
  readonly apps: URL;
  /** Folder of the bundled attack programs. */
  readonly programs: string;
  readonly transport: TransportName;
  readonly flags: Flags;
  readonly quietMs: number;
  readonly attackMs: number;
  /** How long memory has time to shrink. */
  readonly afterMs: number;
}

/** A hundred requests a second; five seconds without any answer are enough. */
const PACE = { everyMs: 10, openMax: 500 };
const WARM_UP_MS = 5000;
const LOOK_MS = 500;
/** Clients that were served during the attack must also be served after it. */
const AFTER_MIN_MS = 2000;
/** Limit for a program that does not end by itself. */
const EXIT_MAX_MS = 20_000;

/** Runs an attack. Rejects only if nothing could be measured, for example if the program does not start. */
export async function siege(attack: Attack, plan: SiegePlan): Promise<Result> {
  const protocol = protocolOf(attack);
  const { transport, programs } = plan;
  const flags = { ...attack.flags, ...plan.flags };
  await using target = await Target.start(plan.apps, protocol, transport, flags, attack.variant);
  await using ruler = new Ruler(programs);
  await using others = new Others(programs, {
    protocols: [protocol],
    endpoints: target.endpoints,
    transport,
    ...PACE,
    warmUpMs: WARM_UP_MS,
    rulerPort: await ruler.port(),
    keys: target.keys,
  });
  await using attacker = new Attacker(programs);
  let rulerP99Ms = 0;
  const look = async (end?: boolean): Promise<Notes> => {
    const notes = await others.notes(end);
    rulerP99Ms = notes.ruler!.p99Ms;
    return notes[protocol]!;
  };
  const idle = memoryOf(target).now;
  target.begin();
  await others.ready();
  await look();
  await wait(plan.quietMs);
  const quiet = await look();
  const before = memoryOf(target);

  const dead = target.process.exit.then((): readonly string[] => ['dead']);
  const [begun, linesBefore] = [performance.now(), target.process.linesSaid];
  const facts = await Promise.race([attacker.run(attack.name, target, plan.attackMs), dead]);
  const during = await look();
  const machineP99Ms = rulerP99Ms;
  const seconds = (performance.now() - begun) / 1000;
  const logLines = target.process.linesSaid - linesBefore;

  const after = await settle(target, before, plan.afterMs + (attack.leavesMs ?? 0));
  const { peak } = memoryOf(target);
  // A dead program answers no request.
  const late = await look(!Number.isNaN(after));
  target.end();
  const said = performance.now();
  target.process.kill('SIGTERM');
  const exit = await Promise.race([target.process.exit, wait(EXIT_MAX_MS).then(() => undefined)]);
  return {
    attack: attack.name,
    transport,
    ...(flags['memory-max'] === undefined ? {} : { memoryMax: Number(flags['memory-max']) }),
    seconds,
    rss: { idle, before: before.now, peak, after },
    quietP99Ms: quiet.p99Ms,
    p99Ms: during.p99Ms,
    machineP99Ms,
    maxMs: Math.max(during.maxMs, late.maxMs),
    asked: during.asked + late.asked,
    lost: quiet.lost + during.lost + late.lost,
    why: [...quiet.why, ...during.why, ...late.why],
    facts,
    logLines,
    exit: exit === undefined ? 'hangs' : (exit.signal ?? exit.code),
    exitMs: performance.now() - said,
  };
}

/** All `NaN` once the program is gone. */
function memoryOf(target: Target): Memory {
  return target.memory() ?? { now: Number.NaN, peak: Number.NaN, ofFiles: Number.NaN };
}

/** Resident memory once it is back to its earlier size, or when the time is over. */
async function settle(target: Target, before: Memory, afterMs: number): Promise<number> {
  const begun = performance.now();
  for (;;) {
    await wait(LOOK_MS);
    const [now, age] = [kept(before, memoryOf(target)), performance.now() - begun];
    if (Number.isNaN(now) || age > afterMs || (age > AFTER_MIN_MS && isGivenBack(before.now, now))) return now;
  }
}
