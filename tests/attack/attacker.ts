/** A process that runs one attack after the other, as told on standard input. */
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Port } from './attack.js';
import { ATTACKS } from './attacks.js';
import { RealStage } from './staging.js';

/** Commands, one per line. */
interface Order {
  readonly attack: string;
  readonly endpoints: Readonly<Partial<Record<Port, string>>>;
  readonly folder: string;
  /** Absent for the small size. */
  readonly fullMs?: number;
}

/** The attacker's own CPU use is not what we measure. */
const NICE = 10;

const say = (msg: string, fields: object): void => {
  console.log(JSON.stringify({ msg, ...fields }));
};

async function obey({ attack: name, endpoints, folder, fullMs }: Order): Promise<void> {
  const attack = ATTACKS.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  const stage = new RealStage({ endpoints, folder, fullMs });
  await stage.play((given) => attack.run(given));
  say('attacked', { attack: name, facts: [...stage.facts] });
}

setPriority(NICE);
say('ready', {});
for await (const line of createInterface(process.stdin)) await obey(JSON.parse(line) as Order);
// Leftovers of an attack must not keep this process alive.
process.exit();
