/**
 * PZQ: the inlet. Producers' messages wait for a group commit, for which producers take turns. Each producer gets its answers in the order of
 * its messages, including rejections. Rules 1 to 7 and 18 of docs/protocols/pzq.md.
 */
import { compact, fromLatin1, latin1 } from '@proj/frames';
import { decodePzqHeaders, type PzqProduce, type PzqUnusable, type PzqWishes } from '@proj/frames/pzq';
import type { Entropy, Peer } from '@proj/transport';
import { keepBody, keepOneOfMany, keptFrames, type KeptBody } from '@proj/transport/engine';
import type { PzqSettings } from '../../options.js';
import type { NewMessage, StoreCounts } from '../../store/store.js';
import { memoryOfBody } from '../../store/body.js';
import { invalidHeader, type Output, type Refusal, REFUSALS } from '../output.js';

/** A producer waiting for answers; others are not remembered. */
interface Producer {
  readonly peer: Peer;
  /** Answers not yet sent. */
  waiting: number;
  /** Bytes of the ids in them. */
  idBytes: number;
  /** Messages to be stored among them, and the memory of their bodies. */
  puts: number;
  putBytes: number;
  /** Its messages that are not in a commit yet. */
  head: Entry | undefined;
  tail: Entry | undefined;
}

/** A message that waits to be stored. */
interface Arrival extends Omit<NewMessage, 'body'> {
  readonly body: KeptBody;
}

/** A message of a producer: to be stored, or to be rejected when its turn to be answered comes. */
export interface Entry {
  readonly producer: Producer;
  /** One of many is text, with a character for each byte: the garbage collector has fewer objects to move. */
  readonly id: Uint8Array | string;
  readonly bytes: number;
  /** Memory of its body: counts against the bounds of what waits. */
  readonly heldBytes: number;
  readonly content: Arrival | Refusal;
  /** The next one of the same producer. */
  next: Entry | undefined;
}

/** An entry that is to be stored. */
export interface Put extends Entry {
  readonly content: Arrival;
}

export function isPut(entry: Entry): entry is Put {
  return 'body' in entry.content;
}

/** Memory of an entry besides the bytes of id and body. */
const ENTRY_BYTES = 768;

/** With so many commits before it, a message is one of many. */
const CROWD_COMMITS = 4;

/** Rejections answered in one step, and those in a commit unless it may have more messages: a producer may have waited for 100,000 of them. */
const ANSWERED_AT_ONCE = 512;

/** While several producers send, none has more than this part of a commit: it takes as long as its messages, and others wait for it. */
const COMMIT_SHARE = 1 / 4;
/** A producer counts as sending for so long after a message. */
const SENDING_MS = 1000;

const MICROS = 1000;

/** Accepts, rejects or drops producers' messages, and answers them. O(1) per message. */
export class ProducerSide {
  readonly #settings: PzqSettings;
  readonly #entropy: Entropy;
  readonly #out: Output;
  readonly #producers = new Map<string, Producer>();
  /** Those with messages that are not in a commit yet, in the order of their turns. */
  readonly #turns = new Set<Producer>();
  /** Those whose next message is a rejection, which waits only for the pending commit. */
  readonly #answerable = new Set<Producer>();
  /** The last one heard, and when it was another before. */
  #heard = '';
  #changedAt = -Infinity;
  #queued = 0;
  /** To be stored, in the queue or in the pending commit. */
  #puts = 0;
  #putBytes = 0;
  #entries = 0;
  #idBytes = 0;

  constructor(settings: PzqSettings, entropy: Entropy, out: Output) {
    this.#settings = settings;
    this.#entropy = entropy;
    this.#out = out;
  }

  /** Answers that producers are waiting for. */
  get waiting(): number {
    return this.#entries;
  }

  /** Memory of those answers and of the messages to be stored. */
  get heldBytes(): number {
    return this.#putBytes + this.#idBytes + this.#entries * ENTRY_BYTES;
  }

  /** Entries not in a commit yet. */
  get queued(): number {
    return this.#queued;
  }

  /** Producers that wait for answers, with the number of answers. */
  *open(): IterableIterator<readonly [peer: Peer, waiting: number]> {
    for (const { peer, waiting } of this.#producers.values()) yield [peer, waiting];
  }

  find(peer: Peer): boolean {
    return this.#producers.has(peer.key);
  }

  /** What comes now waits so long that the time to make text of it, and frames again, is worth it. */
  get #isCrowded(): boolean {
    return this.#queued >= CROWD_COMMITS * this.#settings.batchMax;
  }

  /** For invariants. */
  get sizes() {
    let entries = 0;
    for (const { waiting } of this.#producers.values()) entries += waiting;
    return { entries, puts: this.#puts, putBytes: this.#putBytes };
  }

  /** `acksWaiting`: answers that the socket still holds for this peer. `closed`: why nothing is accepted now, if so. */
  accept(
    peer: Peer,
    command: PzqProduce | PzqUnusable,
    acksWaiting: number,
    counts: StoreCounts,
    closed: Refusal | undefined,
  ): void {
    const producer = this.#producers.get(peer.key) ?? newProducer(peer);
    this.#hear(peer);
    if (this.#isStalled(producer, command.id, acksWaiting)) {
      this.#out.drop('producer-stalled', 'receive', peer);
      return;
    }
    const { content, bytes, heldBytes } = this.#judge(producer, command, counts, closed);
    // The id waits for the disk: do not keep the memory of the frames that arrived with it.
    const id = this.#isCrowded ? latin1(command.id) : compact(command.id);
    const entry = { producer, id, bytes, heldBytes, content, next: undefined };
    if (isPut(entry)) {
      this.#puts++;
      this.#putBytes += heldBytes;
      producer.puts++;
      producer.putBytes += heldBytes;
    } else if (producer.waiting === 0) {
      this.#out.refuse(peer, command.id, entry.content as Refusal);
      return;
    }
    this.#producers.set(peer.key, producer);
    producer.waiting++;
    producer.idBytes += command.id.length;
    this.#idBytes += command.id.length;
    this.#entries++;
    this.#append(producer, entry);
  }

  /**
   * Assembles the next commit: one message to be stored from each producer in turn, with the rejections after it, while there is room and the
   * producer has less than its share.
   */
  takeBatch(): readonly Entry[] {
    const { batchMax, batchMaxBytes } = this.#settings;
    const rejectionsMax = Math.max(batchMax, ANSWERED_AT_ONCE);
    const shareMax = this.#areSeveral ? Math.ceil(batchMax * COMMIT_SHARE) : batchMax;
    const batch: Entry[] = [];
    const taken = new Map<Producer, number>();
    const served: Producer[] = [];
    let puts = 0;
    let bytes = 0;
    for (const producer of this.#turns) {
      const { head } = producer;
      if (puts === batchMax || batch.length - puts >= rejectionsMax) break;
      if (head !== undefined && isPut(head)) {
        if (puts > 0 && bytes + head.heldBytes > batchMaxBytes) break;
        puts++;
        taken.set(producer, (taken.get(producer) ?? 0) + 1);
        bytes += head.heldBytes;
        batch.push(this.#shift(producer, head));
      }
      while (batch.length - puts < rejectionsMax) {
        const rejection = this.#takeRejection(producer);
        if (rejection === undefined) break;
        batch.push(rejection);
      }
      // To the end of the set, so that this loop meets all others first.
      this.#turns.delete(producer);
      if (producer.head === undefined) continue;
      if (taken.get(producer) === shareMax) served.push(producer);
      else this.#turns.add(producer);
    }
    for (const producer of served) this.#turns.add(producer);
    return batch;
  }

  /** What to store of a batch, in its order. */
  newMessages(batch: readonly Entry[]): NewMessage[] {
    return batch.filter(isPut).map(({ content }) => ({ ...content, body: keptFrames(content.body) }));
  }

  /** Answers `1`: the message is stored now, or was before. */
  stored(entry: Entry): void {
    this.#settle(entry);
    this.#out.accept(entry.producer.peer, idOf(entry));
  }

  /** Answers `0`, with the entry's own reason if it has one. */
  refused(entry: Entry, refusal: Refusal): void {
    this.#settle(entry);
    this.#out.refuse(entry.producer.peer, idOf(entry), isPut(entry) ? refusal : (entry.content as Refusal));
  }

  /** Rejects what is not in a commit: as much as one step may answer, or `max`. */
  refuseQueued(refusal: Refusal, max = ANSWERED_AT_ONCE): void {
    let left = max;
    for (const producer of this.#turns) {
      for (let { head } = producer; head !== undefined; { head } = producer) {
        if (left-- === 0) return;
        this.refused(this.#shift(producer, head), refusal);
      }
      this.#turns.delete(producer);
      this.#answerable.delete(producer);
    }
  }

  /** Answers some of the rejections that no longer wait for a commit; others go with the next one. Only while none is pending. */
  answerHead(): void {
    let left = ANSWERED_AT_ONCE;
    for (const producer of this.#answerable) {
      for (let entry = this.#takeRejection(producer); entry !== undefined; entry = this.#takeRejection(producer)) {
        this.refused(entry, entry.content as Refusal);
        if (--left === 0) return;
      }
      this.#answerable.delete(producer);
      if (producer.head === undefined) this.#turns.delete(producer);
    }
  }

  #hear({ key }: Peer): void {
    if (key === this.#heard) return;
    if (this.#heard !== '') this.#changedAt = this.#out.now;
    this.#heard = key;
  }

  /** More than one producer has sent something lately. */
  get #areSeveral(): boolean {
    return this.#out.now - this.#changedAt < SENDING_MS;
  }

  /** Removes and returns the producer's next entry if it is a rejection. */
  #takeRejection(producer: Producer): Entry | undefined {
    const { head } = producer;
    return head === undefined || isPut(head) ? undefined : this.#shift(producer, head);
  }

  #append(producer: Producer, entry: Entry): void {
    this.#queued++;
    if (producer.tail === undefined) {
      producer.head = entry;
      this.#turns.add(producer);
      if (!isPut(entry)) this.#answerable.add(producer);
    } else producer.tail.next = entry;
    producer.tail = entry;
  }

  /** Removes the first one. */
  #shift(producer: Producer, head: Entry): Entry {
    this.#queued--;
    producer.head = head.next;
    if (head.next === undefined) producer.tail = undefined;
    return head;
  }

  #settle(entry: Entry): void {
    const { producer } = entry;
    this.#entries--;
    if (isPut(entry)) {
      this.#puts--;
      this.#putBytes -= entry.heldBytes;
      producer.puts--;
      producer.putBytes -= entry.heldBytes;
    }
    producer.idBytes -= entry.id.length;
    this.#idBytes -= entry.id.length;
    if (--producer.waiting === 0) this.#producers.delete(producer.peer.key);
  }

  /** Rule 4. The socket does not report how many bytes wait there: assume that all ids are as long as this one. */
  #isStalled({ waiting, idBytes }: Producer, id: Uint8Array, acksWaiting: number): boolean {
    const { producerAckMax, producerAckMaxBytes, intakeMax } = this.#settings;
    if (waiting + acksWaiting >= producerAckMax || exceedsShare(waiting, this.#entries, 2 * intakeMax)) return true;
    return waiting + acksWaiting > 0 && idBytes + (acksWaiting + 1) * id.length > producerAckMaxBytes;
  }

  #judge(
    producer: Producer,
    command: PzqProduce | PzqUnusable,
    counts: StoreCounts,
    closed: Refusal | undefined,
  ): Pick<Entry, 'content' | 'bytes' | 'heldBytes'> {
    if (command.kind === 'unusable') return { content: REFUSALS[command.reason], bytes: 0, heldBytes: 0 };
    const bytes = command.body.reduce((sum, frame) => sum + frame.length, 0);
    const heldBytes = memoryOfBody(command.body, bytes);
    const refusal = closed ?? this.#tooMuch(producer, command, bytes, heldBytes, counts);
    if (refusal !== undefined) return { content: refusal, bytes, heldBytes };
    const { headers } = this.#settings;
    const wishes = headers && command.headers.length > 0 ? decodePzqHeaders(command.headers) : {};
    if (wishes.invalid !== undefined) return { content: invalidHeader(wishes.invalid), bytes, heldBytes };
    this.#out.counters.headersDropped += command.headers.length - Object.keys(wishes).length;
    return { content: this.#arrivalOf(command, wishes), bytes, heldBytes };
  }

  /** Rule 18, and the limit on what may wait for a commit. */
  #tooMuch(
    producer: Producer,
    { body }: PzqProduce,
    bytes: number,
    heldBytes: number,
    { messages, bytes: stored }: StoreCounts,
  ): Refusal | undefined {
    const { maxMessages, maxBytes, maxMessageBytes, maxParts, intakeMax, intakeMaxBytes, producerIntakeMax } =
      this.#settings;
    if (body.length > maxParts) return REFUSALS['too-many-parts'];
    if (bytes > maxMessageBytes) return REFUSALS['too-large'];
    if (maxMessages > 0 && messages + this.#puts >= maxMessages) return REFUSALS['queue-full-messages'];
    if (maxBytes > 0 && stored + this.#putBytes + bytes > maxBytes) return REFUSALS['queue-full-bytes'];
    if (producer.puts >= producerIntakeMax || exceedsShare(producer.puts, this.#puts, intakeMax))
      return REFUSALS['queue-full-messages'];
    if (this.#puts > 0 && producer.putBytes + this.#putBytes + heldBytes > intakeMaxBytes)
      return REFUSALS['queue-full-bytes'];
    return undefined;
  }

  #arrivalOf({ id, body }: PzqProduce, wishes: PzqWishes): Arrival {
    const { dedupeWindowMs, delayMs: queueDelayMs, ttlMs: queueTtlMs } = this.#settings;
    const { delayMs = queueDelayMs, ttlMs = queueTtlMs } = wishes;
    const storedMicros = this.#entropy.wallMicros();
    this.#out.sawWall(storedMicros);
    const message = {
      storedMicros,
      body: this.#isCrowded ? keepOneOfMany(body) : keepBody(body),
      readyMicros: delayMs > 0 ? storedMicros + delayMs * MICROS : 0,
      expiresMicros: ttlMs > 0 ? storedMicros + ttlMs * MICROS : 0,
    };
    if (dedupeWindowMs === 0 || id.length === 0) return message;
    return { ...message, dedupe: { id: compact(id), untilMicros: storedMicros + dedupeWindowMs * MICROS } };
  }
}

function idOf({ id }: Entry): Uint8Array {
  return typeof id === 'string' ? fromLatin1(id) : id;
}

/**
 * True if one holds more of a shared limit than is left. So newcomers find room, however many fill it, and those that hold most are rejected
 * first.
 */
function exceedsShare(own: number, all: number, max: number): boolean {
  return all >= max || own >= max - all;
}

function newProducer(peer: Peer): Producer {
  return { peer, waiting: 0, idBytes: 0, puts: 0, putBytes: 0, head: undefined, tail: undefined };
}
