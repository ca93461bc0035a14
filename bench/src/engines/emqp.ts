/** EventMQ: a request and its result. */
import { EmqpBrokerEngine, emqpBrokerOptions } from '@proj/broker/emqp';
import { decodeEmqpAtBroker, encodeEmqp } from '@proj/frames/emqp';
import type { Peer } from '@proj/transport';
import { body, client, clock, entropy, newId, sentBy, text, workers } from './round.js';
import type { Round, Sent } from './round.js';

/** See {@link Round}. */
export function emqp(): Round {
  const engine = new EmqpBrokerEngine(emqpBrokerOptions.parse({}), entropy);
  const now = clock();
  const take = (port: 'frontend' | 'backend', from: Peer, frames: Uint8Array[]): Sent[] =>
    sentBy(engine.step({ kind: 'message', port, peer: from, command: decodeEmqpAtBroker(frames) }, now()), (effect) =>
      effect.kind === 'send' ? { peer: effect.peer, frames: encodeEmqp(effect.command) } : undefined,
    );
  const request = text('', 'eMQP/1.0', 'REQUEST');
  const reply = text('', 'eMQP/1.0', 'REPLY');
  const ready = text('', 'eMQP/1.0', 'READY');
  for (const worker of workers) {
    take('backend', worker, [...text('', 'eMQP/1.0', 'INFORM'), newId(), ...text('[[10, "default"]]', 'worker')]);
    take('backend', worker, [...ready, newId()]);
  }
  const job = [...text('default', 'reply-requested'), body];
  return () => {
    let answers = 0;
    for (const { peer, frames } of take('frontend', client, [...request, newId(), ...job])) {
      // The client is told first that its job is accepted.
      if (peer === client) continue;
      answers += take('backend', peer, [...reply, newId(), body, ...frames.slice(3, 4)]).length;
      take('backend', peer, [...ready, newId()]);
    }
    return answers;
  };
}
