import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Delta } from '../src/model.js';
import { EventStreams } from '../src/streams.js';

/** A response that keeps what is written to it. */
class FakeResponse extends EventEmitter {
  readonly events: string[] = [];
  readonly writableLength = 0;

  write(event: Buffer): void {
    this.events.push(/"at":(\d+)/.exec(event.toString())?.[1] ?? 'model');
  }
}

function open(count: number) {
  const streams = new EventStreams({ streamsMax: count, unreadMaxBytes: 1000 });
  const responses = Array.from({ length: count }, () => new FakeResponse());
  for (const response of responses) streams.add(response as unknown as ServerResponse, Buffer.from('{}'));
  const send = (at: number): void => {
    streams.send({ at } as unknown as Delta);
  };
  return { streams, responses, send };
}

it('sends a delta to a few streams at a time, to each in order', async () => {
  const { responses, send } = open(20);
  send(1);
  send(2);
  expect(responses.filter(({ events }) => events.includes('1'))).toHaveLength(8);
  await setImmediate();
  expect(responses.filter(({ events }) => events.includes('1'))).toHaveLength(16);
  await setImmediate();
  for (const { events } of responses) expect(events).toEqual(['model', '1', '2']);
});

it('sends a delta neither to those that have ended meanwhile nor to those that came later', async () => {
  const { streams, responses, send } = open(10);
  send(1);
  responses.at(-1)?.emit('close');
  const late = new FakeResponse();
  streams.add(late as unknown as ServerResponse, Buffer.from('{}'));
  await setImmediate();
  expect(responses.at(-2)?.events).toEqual(['model', '1']);
  expect(responses.at(-1)?.events).toEqual(['model']);
  expect(late.events).toEqual(['model']);
});
