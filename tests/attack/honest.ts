/** A process of honest clients. Its plan is its argument; each line on standard input asks what was recorded since the last one. */
import { createInterface } from 'node:readline';
import { zmqTransport } from '@proj/transport/zmq';
import { zmtpTransport } from '@proj/zmtp';
import type { Protocol } from '../protocols.js';
import type { Port } from './attack.js';
import { echo } from './honest/echo.js';
import { emqp } from './honest/emqp.js';
import { mdp } from './honest/mdp.js';
import { nfp } from './honest/nfp.js';
import { ppp } from './honest/ppp.js';
import { Prober } from './honest/probe.js';
import type { Honest, Notes } from './honest/probe.js';
import { pzq } from './honest/pzq.js';
import { Keyring } from './keyring.js';

/** Which clients to run, against which endpoints and transport, and how often each of them asks. */
export interface HonestPlan {
  readonly protocols: readonly Protocol[];
  readonly endpoints: Readonly<Partial<Record<Port, string>>>;
  readonly transport: 'zmtp' | 'zmq';
  readonly everyMs: number;
  /** How many requests each client may have open: at that limit it waits for an answer before it asks again. */
  readonly openMax: number;
  /** How long they first ask as fast as possible. */
  readonly warmUpMs: number;
  /** Folder of a {@link Keyring}, if the program has CURVE. */
  readonly keys?: string | undefined;
  /** Port of a ruler, if there is one: asked at the same pace, and recorded as `ruler`. */
  readonly rulerPort?: number;
}

/** What the clients of each protocol have recorded. */
export type AllNotes = Readonly<Partial<Record<Protocol | 'ruler', Notes>>>;

const KINDS: Readonly<Record<Protocol, () => Honest>> = { mdp, nfp, emqp, ppp, pzq };

const plan = JSON.parse(process.argv[2] ?? '') as HonestPlan;
const transport = plan.transport === 'zmtp' ? zmtpTransport() : zmqTransport();
await transport.load();
const curve = plan.keys === undefined ? undefined : await new Keyring(plan.keys).curve('honest');
const probers: (readonly [string, Prober])[] = await Promise.all(
  plan.protocols.map(async (protocol) => {
    const honest = KINDS[protocol]();
    await honest.start(plan.endpoints, transport, curve);
    await Prober.warmUp(honest, plan.warmUpMs);
    return [protocol, new Prober(honest, plan)] as const;
  }),
);
if (plan.rulerPort !== undefined) probers.push(['ruler', new Prober(echo(plan.rulerPort), plan)]);
const tell = (msg: string): void => {
  const notes = Object.fromEntries(probers.map(([protocol, prober]) => [protocol, prober.look()]));
  console.log(JSON.stringify({ msg, notes }));
};
console.log(JSON.stringify({ msg: 'ready' }));
for await (const line of createInterface(process.stdin)) {
  if ((JSON.parse(line) as { readonly end?: boolean }).end === true)
    await Promise.all(probers.map(([, prober]) => prober.end()));
  tell('notes');
}
process.exit();
