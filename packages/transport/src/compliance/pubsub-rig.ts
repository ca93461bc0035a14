/** Shared by the publish-subscribe cases: sockets that are closed afterwards, and a listener that records what it receives. */
import type { PortOptions, PublisherPort, RejectReason, SubscriberListener, SubscriberPort } from '../port.js';
import { bytesOf, framesOf, textOf } from './rig.js';
import { SocketRig, TestListener } from './socket-rig.js';

/** A subscriber and everything its listener got. */
export class TestSubscriber extends TestListener implements SubscriberListener {
  readonly port: SubscriberPort;
  readonly messages: (readonly Uint8Array[])[] = [];
  readonly #texts: string[] = [];
  readonly rejected: RejectReason[] = [];
  /** The last message that only showed that a subscription had arrived. */
  probed: string | undefined;
  /** Called with each message, after it was recorded. */
  onEach: (() => void) | undefined;

  constructor(port: SubscriberPort) {
    super();
    this.port = port;
  }

  /** The short messages as text, frames joined by `|`, without those that only showed that a subscription had arrived. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  onMessage(frames: Uint8Array[]): void {
    this.messages.push(frames);
    const text = isShort(frames) ? textOf(frames) : undefined;
    if (text?.endsWith(PROBE) === true) this.probed = text;
    else if (text !== undefined) this.#texts.push(text);
    this.onEach?.();
    this.wake();
  }

  onRejected(reason: RejectReason): void {
    this.rejected.push(reason);
    this.wake();
  }

  subscribe(...prefixes: string[]): void {
    for (const prefix of prefixes) this.port.subscribe(bytesOf(prefix));
  }

  /** Resolves when a message with this text has arrived. */
  heard(text: string): Promise<void> {
    return this.until(() => this.texts.includes(text));
  }
}

/** A publisher, bound and started. */
export interface TestPublisher {
  readonly port: PublisherPort;
  readonly endpoint: string;
  /** The subscription changes it reported: `+` or `-` and a prefix. */
  readonly changes: readonly string[];
  /** Resolves when there are this many. One waiter at a time. */
  changed(count: number): Promise<void>;
  /** Publishes one message per text. */
  publish(...texts: string[]): void;
}

/** Last frame of a message that is published until it arrives. */
const PROBE = '|?';

/** The sockets of one case. */
export class PubSubRig extends SocketRig {
  /** A publisher port, neither bound nor started. */
  async barePublisher(options: PortOptions = {}): Promise<PublisherPort> {
    return this.keep((await this.transport()).publisher({ lingerMs: 0, ...options }));
  }

  async publisher(options?: PortOptions, endpoint = this.subject.endpoint): Promise<TestPublisher> {
    const port = await this.barePublisher(options);
    const bound = await port.bind(endpoint);
    const changes: string[] = [];
    let look = (): void => undefined;
    port.start({
      onSubscription(prefix, wanted) {
        changes.push(`${wanted ? '+' : '-'}${textOf([prefix])}`);
        look();
      },
      onBroken(error) {
        throw error;
      },
    });
    return {
      port,
      changes,
      changed: (count) =>
        new Promise((resolve) => {
          look = () => {
            if (changes.length >= count) resolve();
          };
          look();
        }),
      endpoint: bound,
      publish(...texts) {
        for (const text of texts) port.publish(framesOf(text));
      },
    };
  }

  /** A subscriber port, neither connected nor started. */
  async bareSubscriber(options: PortOptions = {}): Promise<SubscriberPort> {
    return this.keep((await this.transport()).subscriber(options));
  }

  /** A subscriber, connected and started. */
  async subscriber(
    stations: readonly TestPublisher[],
    prefixes: readonly string[],
    options?: PortOptions,
  ): Promise<TestSubscriber> {
    const port = await this.bareSubscriber(options);
    for (const { endpoint } of stations) port.connect(endpoint);
    const reader = this.listen(port);
    reader.subscribe(...prefixes);
    return reader;
  }

  /** Starts a subscriber. */
  listen(port: SubscriberPort): TestSubscriber {
    const reader = new TestSubscriber(port);
    port.start(reader);
    return reader;
  }

  /** Publishes to this topic until the reader receives it: from then on the publisher knows this subscription and all earlier ones. */
  async known(station: TestPublisher, reader: TestSubscriber, topic: string): Promise<void> {
    reader.probed = undefined;
    await this.repeat(
      () => station.publish(topic + PROBE),
      () => reader.probed === topic + PROBE,
    );
  }

  /** Publishes something else to this topic until the reader has received it, and so everything before it. */
  async flushed(station: TestPublisher, reader: TestSubscriber, topic: string): Promise<void> {
    station.publish(`${topic}|end`);
    await reader.heard(`${topic}|end`);
  }
}

const SHORT_BYTES = 1000;

function isShort(frames: readonly Uint8Array[]): boolean {
  return frames.every(({ length }) => length < SHORT_BYTES);
}
