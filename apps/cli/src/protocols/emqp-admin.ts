/** The admin port of an EventMQ broker, ours or EventMQ's own. */
import { processTransport } from '@proj/appkit';
import { ProjError } from '@proj/client';
import { decodeEmqpAtAdmin, encodeEmqp } from '@proj/frames/emqp';

/** What can be asked for. */
export type EmqpQuestion = 'status' | 'show-workers' | 'show-schedulers';

/** How the port is reached. */
export interface EmqpAdminConnection {
  readonly endpoint: string;
  /** For all answers together. */
  readonly timeoutMs: number;
  readonly transport: 'zmq' | 'zmtp';
  /** Ends the waiting when the user interrupts. */
  readonly stop: AbortSignal;
}

/**
 * Asks one thing after the other, since answers do not say what they answer, and resolves to the answers as JSON. Rejects with
 * `TIMEOUT`, `PROTOCOL_REMOTE` for what is no answer, or the reason of `stop`.
 */
export async function askEmqpAdmin(
  { endpoint, timeoutMs, transport: kind, stop }: EmqpAdminConnection,
  questions: readonly EmqpQuestion[],
): Promise<string[]> {
  stop.throwIfAborted();
  const transport = processTransport(kind);
  await transport.load();
  const { clock, entropy } = transport;
  // In ASCII: an id of ZeroMQ's own making ends EventMQ's router.
  const port = transport.dealer({ routingId: Buffer.from(entropy.uuid()) });
  try {
    return await new Promise((resolve, reject) => {
      const fail = (code: 'TIMEOUT' | 'PROTOCOL_REMOTE' | 'PEER_LOST', why: string): void => {
        reject(new ProjError(code, `${endpoint}: ${why}; is it the admin port of an EventMQ broker?`));
      };
      const answers: string[] = [];
      const askNext = (): void => {
        const kind = questions[answers.length];
        if (kind === undefined) resolve(answers);
        else port.send(SERVER, encodeEmqp({ kind, id: entropy.uuid() }));
      };
      const interrupted = (): void => {
        reject(stop.reason as Error);
      };
      stop.addEventListener('abort', interrupted, { once: true });
      clock.at(clock.now() + timeoutMs, () => {
        fail('TIMEOUT', `no answer within ${timeoutMs} ms`);
      });
      port.connect(endpoint);
      port.start({
        onMessage: (_peer, frames) => {
          const answer = decodeEmqpAtAdmin(frames);
          if (answer.kind !== 'admin-reply') {
            fail('PROTOCOL_REMOTE', 'something else than an answer came');
            return;
          }
          answers.push(answer.json);
          askNext();
        },
        onPeerGone: () => undefined,
        onRejected: () => {
          fail('PROTOCOL_REMOTE', 'an answer is too large');
        },
        onUndeliverable: () => {
          fail('PEER_LOST', 'a question could not be sent');
        },
        onBroken: ({ message }) => {
          fail('PEER_LOST', `the socket failed: ${message}`);
        },
      });
      askNext();
    });
  } finally {
    await port.close({ lingerMs: 0 });
  }
}

/** A dealer looks at no peer. */
const SERVER = { key: '', id: new Uint8Array(0) };
