/** Majordomo 0.2 and 0.1 in `proj`: how its commands reach a broker, and what they say when none answers. */
import { processCurve, processTransport } from '@proj/appkit';
import { isProjError, MdpClient, ProjError } from '@proj/client';
import type { MdpServicePresence } from '@proj/client/mdp';
import { finish } from '../question.js';
import type { Question } from '../question.js';

/** How a broker is reached. */
export interface ConnectionSettings {
  readonly connect?: string[] | undefined;
  readonly protocol: 'mdp' | 'mdp01' | 'ppp';
  readonly timeoutMs: number;
  readonly tries: number;
  readonly transport: 'zmq' | 'zmtp';
}

/** What the action of {@link withClient} has at hand. */
export interface Conversation {
  readonly client: MdpClient;
  /** Ends the waiting when the user interrupts. */
  readonly stop: AbortSignal;
}

const BROKERS = ['tcp://127.0.0.1:5555'];
/** For an answer on a new connection, also of a busy broker. */
const DIAGNOSIS_MS = 3000;

/** Asks a service and shows its replies. */
export async function askByMdp(question: Question): Promise<void> {
  const { settings, stop, service = '' } = question;
  await withClient(settings, stop, service, (conversation) => ask(conversation, service, question));
}

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
 * Runs `action` with a client and closes it. When a request found no answer, the error says what can be done about it;
 * `service` is the one that was asked, if it was one.
 */
export async function withClient<Result>(
  settings: ConnectionSettings,
  stop: AbortSignal,
  service: string | undefined,
  action: (conversation: Conversation) => Promise<Result>,
): Promise<Result> {
  const { connect = BROKERS, timeoutMs, tries, transport } = settings;
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

/** What can be done about a service that did not answer, by what the broker says of it. */
function advice(presence: MdpServicePresence, service: string | undefined, endpoints: string): string {
  if (presence === 'absent') return `no worker offers it at ${endpoints}: start one, or see 'proj services'`;
  if (presence === 'available')
    return `a worker has the service: allow more by --timeout-ms, or see 'proj workers ${service ?? ''}'`;
  const rights = processCurve() === undefined ? '' : ', and may our key ask for it (its --access)';
  return `no broker answers at ${endpoints}: is it running, and is it the one to --connect to${rights}?`;
}
