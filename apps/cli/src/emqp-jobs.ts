/** What `proj defer`, `schedule` and `unschedule` share: how to name a job, and how to send to a broker that does not answer. */
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
import { argumentOf, argumentOperand, kwargsOf } from './body.js';

/** Options that name the job and its broker. */
export const jobOptions = {
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47291'])
    .describe('frontends of EventMQ brokers, in order of preference'),
  kwargs: text('JSON', 'a JSON object').optional().describe(`named arguments of the job, such as '{"to": "a"}'`),
  transport: transportOption(),
  json: onOff().default(false).describe('print JSON'),
};

/** What the worker should do about failures. */
export const runOptions = {
  retryCount: wholeNumber({ min: 0, max: 1000 }).default(0).describe('how often a failed run is retried'),
  timeoutSeconds: wholeNumber({ min: 0, max: 604_800 })
    .default(0)
    .describe("seconds after which a run is killed; 0 is the worker's own limit"),
};

/** The job, after its queue. */
export const jobOperands = [
  { syntax: '<job>', help: 'path.callable: the part after the last dot is the function' },
  argumentOperand,
] as const;

/** The job that these words name; the first word is the queue. Throws `OPTIONS_INVALID`. */
export function jobOf([, name = '', ...words]: readonly string[], kwargs: string | undefined): EmqpJob {
  const dot = name.lastIndexOf('.');
  if (dot < 1 || dot === name.length - 1)
    throw new ProjError('OPTIONS_INVALID', `job "${name}": must be path.callable, such as myjobs.add`);
  const job = { path: name.slice(0, dot), callable: name.slice(dot + 1), args: words.map(argumentOf) };
  return kwargs === undefined ? job : { ...job, kwargs: kwargsOf(kwargs) };
}

/** If closing takes this share of its time, the message was not sent. */
const NEARLY = 0.9;

/** Where to send a message that is not answered. */
export interface Recipient {
  readonly options: EmqpClientOptions;
  /** What is expected there. */
  readonly what: string;
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly transport: 'zmq' | 'zmtp';
}

/**
 * Sends a message that is not answered, and waits until it has been sent. Rejects with `TIMEOUT` if no peer takes it for `timeoutMs`: then
 * libzmq has no connection for it, and ZMTP in TypeScript needs that long to close.
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
        : `is ${what} there, is --server-key its key, and does it admit ours?`;
    return new ProjError('TIMEOUT', `${endpoint}: no peer took it within ${timeoutMs} ms; ${advice}`);
  };
  try {
    await send(client);
  } catch (error) {
    // Time is up: messages without a connection may be dropped.
    void client.close();
    throw isProjError(error, 'TIMEOUT') ? timedOut() : error;
  }
  const began = clock.now();
  await client.close();
  if (clock.now() - began >= timeoutMs * NEARLY) throw timedOut();
}
