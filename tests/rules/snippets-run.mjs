// Runs the snippets of the pages (snippets.ts) one after the other, as modules, beside a broker, a queue and workers that they may use.
// Writes to outcomes.json what each of them printed and how it ended.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { format } from 'node:util';
import { EmqpBroker, EmqpPubSub, MdpBroker, NfpBroker, PppQueue } from '@proj/broker';
import { EmqpClient, NfpClient } from '@proj/client';
import { PzqServer } from '@proj/pzq';
import { SharedRouters } from '@proj/transport';
import { EmqpJobManager, MdpWorker, NfpWorker, PppWorker } from '@proj/worker';
import { zmtpTransport } from '@proj/zmtp';

/** Only ends what hangs. */
const PATIENCE_MS = 20_000;

const [folder] = process.argv.slice(2);
const { world, programs } = JSON.parse(readFileSync(join(folder, 'programs.json'), 'utf8'));
const at = (port) => world[`tcp://127.0.0.1:${port}`];

/** The servers that client snippets find at the usual endpoints. */
async function startWorld() {
  // As in proj-broker, Majordomo and NORFAB share an endpoint.
  const shared = new SharedRouters(zmtpTransport());
  const isMdp = ([first, second]) => (first?.length === 0 ? second : first)?.[0] === 0x4d;
  const pubSub = new EmqpPubSub({ publish: at(47298), subscribe: at(47299) });
  const servers = [
    new MdpBroker({ endpoint: at(5555), transport: shared.member(isMdp) }),
    new NfpBroker({
      endpoint: at(5555),
      transport: shared.member((frames) => !isMdp(frames)),
      publish: at(5559),
      settleMs: 0,
    }),
    pubSub,
    new PppQueue({ frontend: at(5556), backend: at(5557) }),
    new EmqpBroker({
      frontend: at(47291),
      backend: at(47290),
      admin: at(47293),
      pubSub,
    }),
    new PzqServer({ store: 'memory:', receive: at(11131), send: at(11132), monitor: at(11133) }),
  ];
  for (const server of servers) await server.start();
  const jobs = join(folder, 'world-jobs.mjs');
  writeFileSync(jobs, "export default { 'myjobs.add': (a, b) => a + b };");
  const [mdp, ppp] = [{ endpoints: [at(5555)] }, { endpoints: [at(5557)] }];
  const workers = [
    new MdpWorker({ ...mdp, service: 'echo', concurrency: 4, handler: ({ body }) => body }),
    new PppWorker({ ...ppp, handler: ({ body }) => body }),
    new NfpWorker({
      ...mdp,
      service: 'math',
      name: 'math-0',
      tasks: { add: ({ args: [a, b] }) => a + b },
    }),
    new EmqpJobManager({
      endpoints: [at(47290)],
      pool: 'threads',
      handlers: jobs,
    }),
  ];
  for (const worker of workers) await worker.start();
}

/** Publishes continuously, so that subscribers always receive something. */
async function talk() {
  const emqp = new EmqpClient({ publishEndpoint: at(47298) });
  const nfp = new NfpClient({ endpoints: [at(5555)] });
  while (true) {
    await pause(50);
    await emqp.publish('news.sport', 'two to one');
    await nfp.run('math', 'add', { args: [2, 3] });
  }
}

/** Runs one; a program that stays until SIGTERM is told to leave. */
async function run({ path, ports }) {
  let printed = '';
  console.log = (...words) => (printed += `${format(...words)}\n`);
  const whole = async () => {
    await import(pathToFileURL(path));
    const leaving = process.listeners('SIGTERM');
    process.removeAllListeners('SIGTERM');
    await Promise.all(leaving.map(async (leave) => leave()));
  };
  const patience = once(AbortSignal.timeout(PATIENCE_MS), 'abort').then(() => {
    throw new Error(`not done after ${PATIENCE_MS} ms`);
  });
  const error = await Promise.race([whole(), patience]).then(
    () => undefined,
    (reason) => reason?.stack ?? String(reason),
  );
  for (const [usual, free] of Object.entries(ports)) printed = printed.replaceAll(free, usual);
  return { printed, error };
}

await startWorld();
void talk();
const outcomes = {};
for (const program of programs) outcomes[program.name] = await run(program);
writeFileSync(join(folder, 'outcomes.json'), JSON.stringify(outcomes));
process.exit();
