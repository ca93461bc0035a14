/** Open event streams: first the model, then every delta. Limited in number and in unread bytes. */
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers';
import type { Delta } from './model.js';

/** Bounds of {@link EventStreams}. */
export interface StreamBounds {
  readonly streamsMax: number;
  /** Per stream; all together may hold four times as much. */
  readonly unreadMaxBytes: number;
}

/** Streams that get a delta before others in the process have their turn. */
const AT_ONCE = 8;

/** The streams of one server. Each text is made once for all of them. */
export class EventStreams {
  readonly #bounds: StreamBounds;
  readonly #open = new Set<ServerResponse>();

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether the limit of streams is reached. */
  get isFull(): boolean {
    const { streamsMax, unreadMaxBytes } = this.#bounds;
    if (this.#open.size >= streamsMax) return true;
    let unread = 0;
    for (const stream of this.#open) unread += stream.writableLength;
    return unread > 4 * unreadMaxBytes;
  }

  /** Starts a stream with the model as JSON. */
  add(response: ServerResponse, model: Buffer): void {
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
    // A reader that has gone is not a fault.
    response.on('error', () => this.#open.delete(response));
    response.write(eventOf('model', model));
  }

  /** Sends a delta to all, a few at a time: peers are served in between. Cuts readers that have fallen too far behind. */
  send(delta: Delta): void {
    if (this.#open.size === 0) return;
    const text = eventOf('delta', Buffer.from(JSON.stringify(delta)));
    // Those that come later start with a model that includes it.
    const streams = [...this.#open];
    const sendSome = (): void => {
      for (const stream of streams.splice(0, AT_ONCE))
        if (stream.writableLength > this.#bounds.unreadMaxBytes) stream.destroy();
        else if (this.#open.has(stream)) stream.write(text);
      if (streams.length > 0) setImmediate(sendSome);
    };
    sendSome();
  }

  /** Cuts all. */
  close(): void {
    for (const stream of this.#open) stream.destroy();
  }
}

function eventOf(name: string, json: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`event: ${name}\ndata: `), json, Buffer.from('\n\n')]);
}
