/** A Majordomo service with the HTTP server of the programs, which can be attacked while the service is asked. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MdpBroker } from '@proj/broker/mdp';
import { MdpClient } from '@proj/client/mdp';
import { observe, serveHttp } from '@proj/observe/http';
import { MdpWorker } from '@proj/worker/mdp';

const SIEGE = fileURLToPath(new URL('siege.mjs', import.meta.url));

/** How each attack ended: what happened to its requests. */
export type Outcomes = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A running service. */
export interface Besieged extends AsyncDisposable {
  /** Attacks it from another process; resolves when all attacks have started. `over` resolves when they end. */
  attack(streams: number, seconds: number): Promise<{ readonly outcomes: Outcomes; readonly over: Promise<void> }>;
  /** Calls the service this many times in turn. Rejects if a call is not answered. */
  ask(times: number): Promise<void>;
  /** Checks that the HTTP server is alive. */
  isAlive(): Promise<boolean>;
}

/** Starts broker, worker, client and HTTP server on free loopback ports. */
export async function besieged(): Promise<Besieged> {
  const broker = new MdpBroker({ endpoint: 'tcp://127.0.0.1:*' });
  const [endpoint = ''] = await broker.start();
  const worker = new MdpWorker({ endpoints: [endpoint], service: 'echo', handler: ({ body }) => body });
  await worker.start();
  const client = new MdpClient({ endpoints: [endpoint] });
  const observer = observe({ name: 'besieged', version: '1.0.0', servers: [{ protocol: 'mdp', facade: broker }] });
  const http = await serveHttp({ listen: '127.0.0.1:0', observer, token: 'correct-horse-battery' });
  return {
    async attack(streams, seconds) {
      const args = [SIEGE, new URL(http.url).port, String(streams), String(seconds)];
      const siege = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const over = once(siege, 'exit').then(() => undefined);
      const [line] = (await once(siege.stdout, 'data')) as [Buffer];
      return { outcomes: JSON.parse(line.toString()) as Outcomes, over };
    },
    async ask(times) {
      for (let index = 0; index < times; index++) await client.request('echo', 'hello');
    },
    async isAlive() {
      const answer = await fetch(new URL('healthz', http.url), { headers: { connection: 'close' } });
      return answer.status === 200;
    },
    async [Symbol.asyncDispose]() {
      observer.close();
      await http.close();
      await client.close();
      await worker.close();
      await broker.close();
    },
  };
}
