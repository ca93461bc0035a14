/** For tests: runs `proj` commands without a separate process, and a queue with an HTTP interface. */
import type { Command, Context } from '@proj/appkit';
import { PzqConsumer, PzqProducer } from '@proj/client';
import { observe, serveHttp } from '@proj/observe/http';
import { PzqServer } from '@proj/pzq';

/** The limit of the test ends a command that hangs. */
const PATIENCE_MS = 600_000;

/** The output of a command. */
export interface Ran {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Runs a command with these settings and its defaults. Rejects as the command does. */
export async function run(
  command: Command,
  operands: readonly string[],
  settings: Readonly<Record<string, unknown>>,
  stop: AbortSignal = new AbortController().signal,
): Promise<Ran> {
  const lines: string[] = [];
  const context = {
    settings: command.options.parse({ timeoutMs: PATIENCE_MS, ...settings }),
    operands,
    stop,
    print: (line: string) => lines.push(line),
  };
  const code = await command.run(context as unknown as Context<never>);
  return { code: code ?? 0, lines };
}

/** The token of the queue. */
export const TOKEN = 'a-token-of-tests';

/** A queue in memory that gives up a message after one delivery, and its HTTP interface. */
export interface ShownQueue extends AsyncDisposable {
  readonly url: string;
  /** Takes a snapshot. */
  tick(): void;
  store(body: string): Promise<void>;
  /** Resolves to the body of the next message, and acknowledges it. */
  take(): Promise<string>;
  /** Stores a message, makes it a dead letter, and resolves to its id once it is shown. */
  bury(body: string): Promise<string>;
}

/** Starts a queue. */
export async function showQueue(): Promise<ShownQueue> {
  const any = 'tcp://127.0.0.1:*';
  const queue = new PzqServer({ receive: any, send: any, monitor: any, store: 'memory:', maxDeliveries: 1 });
  const { receive, send } = await queue.start();
  const actions = {
    returnDeadLetters: (keys: Iterable<string>) => queue.returnDeadLetters(keys),
    removeDeadLetters: (keys: Iterable<string>) => queue.removeDeadLetters(keys),
    purge: () => queue.purge(),
  };
  let tick = (): void => undefined;
  const observer = observe({
    ...{ name: 'proj-queue', version: '1.2.3', hasActions: true },
    servers: [{ protocol: 'pzq', facade: queue, deadLetters: () => queue.deadLetters(), actions }],
    every: (each) => {
      tick = each;
      return () => undefined;
    },
  });
  const http = await serveHttp({ listen: '127.0.0.1:0', observer, token: TOKEN });
  const producer = new PzqProducer({ endpoints: receive });
  // Connected only when needed: a consumer takes waiting messages.
  let made: PzqConsumer | undefined;
  const consumer = () => (made ??= new PzqConsumer({ endpoints: send, prefetch: 1 }));
  return {
    url: http.url,
    tick: () => {
      tick();
    },
    store: async (body) => {
      await producer.send(body);
    },
    take: async () => {
      const message = await consumer().receive();
      message!.ack();
      return Buffer.concat(message!.body).toString();
    },
    bury: async (body) => {
      const died = new Promise((resolve) => queue.on('dead-letter', resolve));
      await producer.send(body);
      (await consumer().receive())!.nack();
      await died;
      // A snapshot lists dead letters in the background; the next snapshot has them.
      for (;;) {
        tick();
        await new Promise((resolve) => setImmediate(resolve));
        for (const { id } of Object.values(observer.model.deadLetters)) {
          for await (const letter of queue.deadLetters())
            if (letter.key === id && Buffer.concat(letter.body).toString() === body) return id;
        }
      }
    },
    [Symbol.asyncDispose]: async () => {
      await http.close();
      observer.close();
      await made?.close();
      await producer.close();
      await queue.close();
    },
  };
}
