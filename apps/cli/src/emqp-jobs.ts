/** What `proj defer`, `schedule` and `unschedule` share: how a job is named, and how a broker that answers nothing is reached. */
import {
  connectEndpoints,
  onOff,
  processCurve,
  text,
  transportOption,
  unansweredTransport,
  wholeNumber,
} from '@proj/appkit';
import { EmqpClient, isProjError, ProjError } from '@proj/client';
import type { EmqpClientOptions, EmqpJob } from '@proj/client';

/** How the job and its broker are named. */
export const jobOptions = {
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47291'])
    .describe('frontends of EventMQ brokers, in order of preference'),
  kwargs: text('JSON', 'a JSON object').optional().describe(`named arguments of the job, such as '{"to": "a"}'`),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON'),
};

/** What the worker is asked to do about failures. */
export const runOptions = {
  retryCount: wholeNumber({ min: 0, max: 1000 }).default(0).describe('how often a run that failed is tried again'),
  timeoutSeconds: wholeNumber({ min: 0, max: 604_800 })
    .default(0)
    .describe("seconds after which a run is killed; 0 is the worker's own limit"),
};

/** The job behind its queue. */
export const jobOperands = [
  { syntax: '<job>', help: 'path.callable: what follows the last dot is the function' },
  { syntax: '[args...]', help: 'positional arguments: JSON, and text where it is none; \'"3"\' is the text 3' },
] as const;

/** The job that these words name, the first of which is the queue's. Throws `OPTIONS_INVALID`. */
export function jobOf([, name = '', ...words]: readonly string[], kwargs: string | undefined): EmqpJob {
  const dot = name.lastIndexOf('.');
  if (dot < 1 || dot === name.length - 1)
    throw new ProjError('OPTIONS_INVALID', `job "${name}": must be path.callable, such as myjobs.add`);
  const job = { path: name.slice(0, dot), callable: name.slice(dot + 1), args: words.map(argumentOf) };
  return kwargs === undefined ? job : { ...job, kwargs: kwargsOf(kwargs) };
}

function argumentOf(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

function kwargsOf(json: string): Record<string, unknown> {
  const value = argumentOf(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ProjError('OPTIONS_INVALID', `--kwargs = ${json}: must be a JSON object such as {"a": 1}`);
}

/** A close that takes this part of its time has not got rid of what was sent. */
const NEARLY = 0.9;

/** Where a message without an answer goes. */
export interface Recipient {
  readonly options: EmqpClientOptions;
  /** What is looked for there. */
  readonly what: string;
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly transport: 'zmq' | 'zmtp';
}

/**
 * Sends something that nobody answers, and waits until it has gone out. Rejects with `TIMEOUT` when nobody takes it for `timeoutMs`: libzmq
 * has no connection for it then, ZMTP in TypeScript needs that long to close.
 */
export async function sendUnanswered(
  { options, what, endpoint, timeoutMs, transport: kind }: Recipient,
  send: (client: EmqpClient) => Promise<void>,
): Promise<void> {
  const transport = unansweredTransport(kind);
  const client = new EmqpClient({ ...options, timeoutMs, lingerMs: timeoutMs, transport });
  const { clock } = transport;
  const timedOut = () => {
    const advice =
      processCurve() === undefined
        ? `is ${what} without encryption there?`
        : `is ${what} there, is --server-key its key, and does it let ours in?`;
    return new ProjError('TIMEOUT', `${endpoint}: nobody took it within ${timeoutMs} ms; ${advice}`);
  };
  try {
    await send(client);
  } catch (error) {
    // Its time is over: what has found no connection by now may be dropped.
    void client.close();
    throw isProjError(error, 'TIMEOUT') ? timedOut() : error;
  }
  const began = clock.now();
  await client.close();
  if (clock.now() - began >= timeoutMs * NEARLY) throw timedOut();
}
