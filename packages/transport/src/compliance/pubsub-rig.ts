/** Shared by the publish-subscribe cases: sockets that are closed afterwards, and a listener that records what it receives. */
import type {
  PortOptions,
  PublisherPort,
  RejectReason,
  SubscriberListener,
  SubscriberPort,
  Transport,
} from '../port.js';
import { bytesOf, framesOf, textOf } from './rig.js';
import type { PubSubSubject } from './pubsub-suite.js';

/** A subscriber and everything its listener got. */
export class TestSubscriber implements SubscriberListener {
  readonly port: SubscriberPort;
  readonly messages: (readonly Uint8Array[])[] = [];
  readonly #texts: string[] = [];
  readonly rejected: RejectReason[] = [];
  /** The last message that only showed that a subscription had arrived. */
  probed: string | undefined;
  /** Called with each message, after it was recorded. */
  onEach: (() => void) | undefined;
  #waiters: {
    readonly condition: () => boolean;
    readonly resolve: () => void;
    readonly reject: (error: Error) => void;
  }[] = [];

  constructor(port: SubscriberPort) {
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
    this.#wake();
  }

  onRejected(reason: RejectReason): void {
    this.rejected.push(reason);
    this.#wake();
  }

  onBroken(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
  }

  subscribe(...prefixes: string[]): void {
    for (const prefix of prefixes) this.port.subscribe(bytesOf(prefix));
  }

  /** Resolves once the condition holds; checked after each call of the port. The test runner has the time limits. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ condition, resolve, reject });
    });
  }

  /** Resolves when a message with this text has arrived. */
  heard(text: string): Promise<void> {
    return this.until(() => this.texts.includes(text));
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (waiter.condition()) waiter.resolve();
      else this.#waiters.push(waiter);
    }
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
export class PubSubRig {
  readonly subject: PubSubSubject;
  readonly #ports: (PublisherPort | SubscriberPort)[] = [];

  constructor(subject: PubSubSubject) {
    this.subject = subject;
  }

  /** An endpoint that will be bound again. */
  ownEndpoint(): Promise<string> {
    return this.subject.ownEndpoint?.() ?? Promise.resolve(this.subject.endpoint);
  }

  /** A publisher port, neither bound nor started. */
  async barePublisher(options: PortOptions = {}): Promise<PublisherPort> {
    const port = (await this.#transport()).publisher({ lingerMs: 0, ...options });
    this.#ports.push(port);
    return port;
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
    const port = (await this.#transport()).subscriber(options);
    this.#ports.push(port);
    return port;
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

  /** Lets this much of the transport's time pass. */
  async pass(ms: number): Promise<void> {
    await pause(await this.#transport(), ms);
  }

  /** Repeats an action every few milliseconds until the condition holds. */
  async repeat(action: () => void, condition: () => boolean): Promise<void> {
    const transport = await this.#transport();
    while (!condition()) {
      action();
      await pause(transport, 5);
    }
  }

  /** Publishes something else to this topic until the reader has received it, and so everything before it. */
  async flushed(station: TestPublisher, reader: TestSubscriber, topic: string): Promise<void> {
    station.publish(`${topic}|end`);
    await reader.heard(`${topic}|end`);
  }

  async close(): Promise<void> {
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  async #transport(): Promise<Transport> {
    const transport = this.subject.transport();
    await transport.load();
    return transport;
  }
}

/** Lets the transport's own time pass. */
function pause({ clock }: Transport, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}

const SHORT_BYTES = 1000;

function isShort(frames: readonly Uint8Array[]): boolean {
  return frames.every(({ length }) => length < SHORT_BYTES);
}
