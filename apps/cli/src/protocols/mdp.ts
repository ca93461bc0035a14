/** Majordomo 0.2 and 0.1 in `proj`: how commands reach a broker, and what they say if none answers. */
import { processCurve, processTransport } from '@proj/appkit';
import { isProjError, MdpClient, ProjError } from '@proj/client';
import type { MdpServicePresence } from '@proj/client/mdp';
import { finish } from '../question.js';
import type { Question } from '../question.js';
import type { Callable, CallableName } from './index.js';

/** How to reach a broker. */
export interface ConnectionSettings {
  readonly connect?: string[] | undefined;
  readonly protocol: CallableName;
  readonly timeoutMs: number;
  readonly tries: number;
  readonly transport: 'zmq' | 'zmtp';
}

/** What the action of {@link withClient} can use. */
export interface Conversation {
  readonly client: MdpClient;
  /** Ends the wait when the user interrupts. */
  readonly stop: AbortSignal;
}

/** Time for an answer on a new connection, even from a busy broker. */
const DIAGNOSIS_MS = 3000;

/** The part of `proj call` that speaks 0.2. */
export const mdp: Callable = {
  title: 'Majordomo 0.2',
  endpoint: 'tcp://127.0.0.1:5555',
  hasServices: true,
  async ask(question) {
    const { settings, stop, service = '' } = question;
    await withClient(settings, stop, service, (conversation) => ask(conversation, service, question));
  },
};

/** The same for 0.1. */
export const mdp01: Callable = { ...mdp, title: 'Majordomo 0.1' };

async function ask({ client, stop }: Conversation, service: string, question: Question): Promise<void> {
  const { settings, body, show } = question;
  const own = { signal: stop, failFast: settings.failFast };
  if (!settings.stream) {
    finish(question, await client.request(service, body, own));
    return;
  }
  const parts = client.stream(service, body, own);
  for (let next = await parts.next(); ; next = await parts.next()) {
    if (next.done === true) {
      finish(question, next.value);
      return;
    }
    show('partial', next.value);
  }
}

/**
 * Runs `action` with a client and closes it. If a request got no answer, the error says what to do about it; `service`
 * is the service that was called, if any.
 */
export async function withClient<Result>(
  settings: ConnectionSettings,
  stop: AbortSignal,
  service: string | undefined,
  action: (conversation: Conversation) => Promise<Result>,
): Promise<Result> {
  const { connect = [mdp.endpoint], timeoutMs, tries, transport } = settings;
  await using client = new MdpClient({
    endpoints: connect,
    version: settings.protocol === 'mdp01' ? '0.1' : '0.2',
    timeoutMs,
    tries,
    transport: processTransport(transport),
  });
  try {
    return await action({ client, stop });
  } catch (error) {
    if (!isProjError(error, 'TIMEOUT')) throw error;
    const limits = { timeoutMs: Math.min(DIAGNOSIS_MS, timeoutMs), tries: 1, signal: stop };
    const { presence: told } = error.details as { readonly presence?: MdpServicePresence };
    const presence = told ?? (service === undefined ? 'unknown' : await client.service(service, limits));
    throw new ProjError('TIMEOUT', `${error.message}; ${advice(presence, service, [...new Set(connect)].join(', '))}`);
  }
}

/** Advice for a service that did not answer, depending on what the broker says about it. */
function advice(presence: MdpServicePresence, service: string | undefined, endpoints: string): string {
  if (presence === 'absent') return `no worker offers it at ${endpoints}: start one, or see 'proj services'`;
  if (presence === 'available') return `a worker offers it: raise --timeout-ms, or see 'proj workers ${service ?? ''}'`;
  const rights = processCurve() === undefined ? '' : ', and may our key ask for it (its --access)';
  return `no broker answers at ${endpoints}: is it running, and is it the one to --connect to${rights}?`;
}
