import type { Model } from '@proj/observe/model';
import { afterEach, expect, it, vi } from 'vitest';
import { Live } from './live.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A model with one dead letter, which died at this moment. */
const modelAt = (at: number) => ({ deadLetters: { letter: { at } } }) as unknown as Model;

it('a message that was requeued and dies again can be viewed', async () => {
  const answered = Promise.resolve({ status: 200, ok: true, json: () => Promise.resolve({ ok: true, count: 1 }) });
  let events!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      events = controller;
    },
  });
  const bytes = () => Promise.resolve(new ArrayBuffer(3));
  vi.stubGlobal('fetch', (url: string) => {
    if (url === 'api/events') return Promise.resolve({ status: 200, ok: true, body });
    return url === 'api/actions' ? answered : Promise.resolve({ status: 200, ok: true, arrayBuffer: bytes });
  });
  const live = new Live();
  const seen = async (at: number): Promise<void> => {
    const changed = new Promise<void>((resolve) => {
      const forget = live.subscribe(() => {
        if (live.model?.deadLetters['letter']?.at !== at) return;
        forget();
        resolve();
      });
    });
    events.enqueue(new TextEncoder().encode(`event: model\ndata: ${JSON.stringify(modelAt(at))}\n\n`));
    await changed;
  };
  void live.run();
  await seen(1);
  await live.act({ action: 'requeue-dead', ids: ['letter'] }, 'a token');
  const look = () => live.bodyOf('letter', new AbortController().signal);
  await expect(look()).rejects.toThrow('no longer a dead letter');
  await seen(1);
  await expect(look()).rejects.toThrow('no longer a dead letter');
  await seen(2);
  expect((await look()).length).toBe(3);
});
