/** EventMQ: the ports, and their largest messages. */
import { EmqpBrokerEngine, emqpBrokerOptions, EmqpPubSubEngine } from '@proj/broker/emqp';
import type { EmqpBrokerEvent } from '@proj/broker/emqp';
import { decodeEmqpAtAdminPort, decodeEmqpAtBroker, decodeEmqpAtPubSub, encodeEmqp } from '@proj/frames/emqp';
import * as arbitraries from '@proj/testkit/arbitraries';
import type { Peer } from '@proj/transport';
import { body, entropy, JSON_BOMBS, long, MIB, stepper, text, uuid } from './port.js';
import type { Frames, Port, Step } from './port.js';

function server(port: 'frontend' | 'backend' | 'admin'): Step {
  const engine = new EmqpBrokerEngine(emqpBrokerOptions.parse({}), entropy);
  const eventOf = (peer: Peer, frames: Frames): EmqpBrokerEvent =>
    port === 'admin'
      ? { kind: 'admin', peer, command: decodeEmqpAtAdminPort(frames) }
      : { kind: 'message', port, peer, command: decodeEmqpAtBroker(frames) };
  return stepper(
    (peer, frames, now) => engine.step(eventOf(peer, frames), now),
    (effect) => effect.kind === 'send' && void encodeEmqp(effect.command),
  );
}

function pubSub(): Step {
  const engine = new EmqpPubSubEngine();
  return stepper((peer, frames, now) =>
    engine.step({ kind: 'message', peer, command: decodeEmqpAtPubSub(frames) }, now),
  );
}

const emqpRequest = (word: string, ...rest: readonly (string | Uint8Array)[]) =>
  text('', 'eMQP/1.0', word, uuid, ...rest);

/** See {@link Port}. */
export const emqp: readonly Port[] = [
  ...(['frontend', 'backend'] as const).map((port): Port => ({
    name: `eMQP ${port}`,
    valid: arbitraries.emqpToBroker.map(encodeEmqp),
    open: () => server(port),
    largest: {
      'REQUEST of 64 MiB': emqpRequest('REQUEST', 'default', '', body),
      'REQUEST with headers of 64 MiB': emqpRequest('REQUEST', 'default', body, '{}'),
      'REQUEST with 4 KiB of headers': emqpRequest('REQUEST', 'default', long(4096, 'timeout:1,'), '{}'),
      'INFORM with 64 KiB of queues': emqpRequest('INFORM', `[${long(65_000, '[1,"q"],')}[1,"q"]]`, 'worker'),
      'INFORM with 64 KiB of brackets': emqpRequest('INFORM', JSON_BOMBS[0] ?? '', 'worker'),
      'INFORM with queues of 64 MiB': emqpRequest('INFORM', body, 'worker'),
      ...Object.fromEntries(
        JSON_BOMBS.map((bomb, n) => [
          `SCHEDULE of 1 MiB of JSON, ${n + 1}`,
          emqpRequest('SCHEDULE', 'default', '', '60', long(MIB, bomb).slice(0, MIB), ''),
        ]),
      ),
      'SCHEDULE of 1 MiB with many keys': emqpRequest(
        ...(['SCHEDULE', 'default', '', '60'] as const),
        `["run", {${Array.from({ length: 60_000 }, (_, n) => `"k${n}": ${n}`).join(', ')}}]`,
        '',
      ),
      'SCHEDULE with an interval of 64 MiB': emqpRequest('SCHEDULE', 'default', '', body, '{}', ''),
      'SCHEDULE with a cron of 64 MiB': emqpRequest('SCHEDULE', 'default', '', '-1', '{}', body),
    },
  })),
  {
    name: 'eMQP admin',
    valid: arbitraries.emqpToAdminPort.map(encodeEmqp),
    open: () => server('admin'),
    largest: { 'STATUS with 64 MiB behind it': emqpRequest('STATUS', body) },
  },
  {
    name: 'eMQP pub-sub',
    valid: arbitraries.emqpPublish.map(encodeEmqp),
    open: pubSub,
    largest: {
      'PUBLISH of 64 MiB': emqpRequest('PUBLISH', 'topic', body),
      'PUBLISH with a topic of 64 MiB': emqpRequest('PUBLISH', body, 'x'),
    },
  },
];
