/**
 * NFP broker: calls in one-byte form that all their workers answer together (rule 24). A REQ socket takes one reply to each request, so a 202
 * and separate replies of several workers would be taken for replies to its next requests.
 */
import { compactAll, totalBytes } from '@proj/frames';
import { decodeNfpJson, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpAnswer, NfpBody, NfpClientCall, NfpStatus } from '@proj/frames/nfp';
import { Deadline, DeadlineList } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { frameCost } from '../../../shared/cost.js';
import { dueOf } from '../../../shared/due.js';
import { Share, Shares } from '../../../shared/shares.js';
import type { JobTable } from './job-table.js';
import { WORKER_MMI } from '../management/reserved-names.js';
import { JOB_UNKNOWN, REQUEST_TIMEOUT, statusOfText } from '../output.js';
import type { Asked, Output } from '../output.js';
import type { Worker } from '../records.js';

/** Charged for each call and each worker it waits for, in addition to the received bodies. */
const WAITING_COST = 256;

/** Memory of a call in addition to what it is charged. */
const CALL_BYTES = 1024;

/** Longest reply that is parsed to be joined with others; a longer one is joined as `null`. */
const JOINED_MAX_BYTES = 67_108_864;

const PENDING = 300;

const decoder = new TextDecoder();

/** A worker's answer to a call. */
type Answer = NfpStatus & { readonly command: NfpAnswer; readonly uuid: string; readonly body: NfpBody };

/** The answer of one worker, or of the broker in its place. */
interface Said {
  readonly worker: string;
  /** One of the text's. */
  readonly status: number;
  readonly unknown: boolean;
  readonly statusText?: string | undefined;
  readonly body: NfpBody;
}

/** A client's open calls. Exists while there are any. */
class OpenCalls {
  readonly gathers = new Set<Gather>();
  readonly bytes = new Share();
}

/** An unanswered call. */
class Gather {
  readonly peer: Peer;
  readonly open: OpenCalls;
  readonly asked: Asked;
  readonly isMmi: boolean;
  /** Workers that have not answered yet, by key. */
  readonly awaited = new Map<string, Worker>();
  /** By key, in the order of the call; `undefined` for workers that have not answered yet. */
  readonly said = new Map<string, Said | undefined>();
  readonly patience = new Deadline<Gather>(this);
  cost = 0;

  constructor(peer: Peer, open: OpenCalls, { form, service, uuid, target }: NfpClientCall) {
    this.peer = peer;
    this.open = open;
    this.asked = { form, service, uuid, target };
    this.isMmi = service === WORKER_MMI;
  }
}

/** All such calls. An answer costs O(1), the loss of a worker or client as much as it had open. */
export class Gathers {
  readonly #out: Output;
  readonly #jobs: JobTable;
  readonly #bytes: Shares;
  /** The process is short of memory: nothing more may wait here. */
  isTight = false;
  readonly #patience: DeadlineList<Gather>;
  /** By the worker's key, then by uuid, then by the client's key, in the order of the calls. */
  readonly #byWorker = new Map<string, Map<string, Map<string, Gather[]>>>();
  /** By the client's key. */
  readonly #byClient = new Map<string, OpenCalls>();

  constructor(
    options: { readonly requestQueueMaxBytes: number; readonly requestTtlMs: number },
    jobs: JobTable,
    out: Output,
  ) {
    this.#jobs = jobs;
    this.#out = out;
    this.#bytes = new Shares(options.requestQueueMaxBytes);
    this.#patience = new DeadlineList(options.requestTtlMs);
  }

  /** Unanswered calls. */
  get size(): number {
    return this.#patience.size;
  }

  get heldBytes(): number {
    return this.#bytes.used + this.size * CALL_BYTES;
  }

  /** When the next call has waited too long. */
  get deadline(): number {
    return this.#patience.deadline;
  }

  /** Opens a call to these workers, at least one; false, without any effect, if this client or all together have too much open. */
  open(peer: Peer, call: NfpClientCall, workers: readonly Worker[]): boolean {
    const cost = WAITING_COST * (1 + workers.length);
    const open = this.#byClient.get(peer.key) ?? new OpenCalls();
    if (this.isTight || !this.#bytes.take(open.bytes, cost)) return false;
    const gather = new Gather(peer, open, call);
    gather.cost = cost;
    for (const worker of workers) {
      gather.awaited.set(worker.peer.key, worker);
      gather.said.set(worker.peer.key, undefined);
      const mine = entryOf(this.#byWorker, worker.peer.key, newMap<Map<string, Gather[]>>);
      entryOf(entryOf(mine, call.uuid, newMap<Gather[]>), peer.key, newList).push(gather);
    }
    this.#byClient.set(peer.key, open);
    open.gathers.add(gather);
    this.#patience.renew(gather.patience, this.#out.now);
    return true;
  }

  /** A worker has answered the client or, in the shape of the tables, nobody in particular. True if that answers an open call. */
  answer(worker: Worker, client: string | undefined, answer: Answer): boolean {
    const ofJob = this.#byWorker.get(worker.peer.key)?.get(answer.uuid);
    const [gather] = (client === undefined ? ofJob?.values().next().value : ofJob?.get(client)) ?? [];
    if (gather === undefined || !isReply(gather, answer)) return false;
    const { status, statusText } = answer;
    // A reply that must be joined is kept until the last one has arrived.
    const isLast = gather.said.size === 1;
    const body = isLast ? answer.body : compactAll(answer.body);
    const cost = isLast ? 0 : frameCost(body);
    const unknown = status === JOB_UNKNOWN;
    if (this.#bytes.take(gather.open.bytes, cost)) {
      gather.cost += cost;
      this.#settle(gather, worker, { worker: worker.name, status: statusOfText(status), unknown, statusText, body });
    } else
      this.#fail(gather, worker, 500, 'the broker has no room to join what workers say: ask for one worker at a time');
    return true;
  }

  /** Whether a call waits for this worker. */
  awaits({ peer }: Worker): boolean {
    return this.#byWorker.has(peer.key);
  }

  /** The worker is lost: its calls are answered in its place. */
  lose(worker: Worker): void {
    const mine = this.#byWorker.get(worker.peer.key);
    if (mine === undefined) return;
    const open = [...mine.values()].flatMap((ofJob) => [...ofJob.values()].flat());
    for (const gather of open) {
      // Rule 13: the job may yet be done, by this worker or another.
      const goesOn = this.#jobs.find(gather.asked.uuid)?.partAt(worker.holder) !== undefined;
      this.#fail(gather, worker, goesOn ? PENDING : REQUEST_TIMEOUT, 'the worker was lost');
    }
  }

  /** The client has gone: nobody waits for its answers. */
  leave(client: Peer): void {
    for (const gather of [...(this.#byClient.get(client.key)?.gathers ?? [])]) this.#close(gather);
  }

  /** Answers in place of workers that have been silent too long. */
  expire(): void {
    const { now } = this.#out;
    const error = `the worker has said nothing for ${this.#patience.delayMs} ms`;
    for (const late of dueOf(this.#patience, now))
      for (const worker of [...late.awaited.values()]) this.#fail(late, worker, REQUEST_TIMEOUT, error);
  }

  /** Nothing expires before `now + ms`. */
  postpone(ms: number): void {
    this.#patience.postpone(ms, this.#out.now);
  }

  /** Rule 14. */
  abandon(): void {
    for (const { gathers } of [...this.#byClient.values()])
      for (const gather of [...gathers]) {
        this.#close(gather);
        this.#out.refuse('drained', gather.peer, gather.asked, 'the broker is closing', 500);
      }
  }

  /** Throws if the tables disagree. Linear. */
  assertInvariants(): void {
    let [open, cost] = [0, 0];
    for (const { gathers, bytes } of this.#byClient.values()) {
      let held = 0;
      for (const gather of gathers) {
        open++;
        held += gather.cost;
        if (gather.awaited.size === 0) throw new Error('a call that nobody is to answer is open');
        for (const key of gather.awaited.keys())
          if (this.#byWorker.get(key)?.get(gather.asked.uuid)?.get(gather.peer.key)?.includes(gather) !== true)
            throw new Error('an open call is not found by its worker');
      }
      if (held !== bytes.held) throw new Error('a client has what its calls cost');
      cost += held;
    }
    if (open !== this.size || cost !== this.#bytes.used) throw new Error('open calls are not counted as they are');
  }

  #fail(gather: Gather, worker: Worker, status: 300 | 408 | 500, error: string): void {
    const { name, service } = worker;
    const { uuid } = gather.asked;
    const word = status === PENDING ? 'PENDING' : 'FAILED';
    const body = encodeNfpJson({ worker: name, uuid, status: word, service: service.name, errors: [error] });
    this.#settle(gather, worker, { worker: name, status, unknown: false, body });
  }

  #settle(gather: Gather, worker: Worker, said: Said): void {
    gather.said.set(worker.peer.key, said);
    gather.awaited.delete(worker.peer.key);
    this.#unlink(gather, worker.peer.key);
    if (gather.awaited.size > 0) return;
    const told = joined([...gather.said.values()].filter((each) => each !== undefined));
    this.#close(gather);
    this.#out.answer(gather.peer, 'response', gather.asked, told, told.body);
  }

  #close(gather: Gather): void {
    for (const key of gather.awaited.keys()) this.#unlink(gather, key);
    gather.awaited.clear();
    this.#patience.remove(gather.patience);
    const { open, cost, peer } = gather;
    this.#bytes.give(open.bytes, cost);
    open.gathers.delete(gather);
    if (open.gathers.size === 0) this.#byClient.delete(peer.key);
  }

  #unlink(gather: Gather, worker: string): void {
    const mine = this.#byWorker.get(worker);
    const ofJob = mine?.get(gather.asked.uuid);
    const calls = ofJob?.get(gather.peer.key);
    if (mine === undefined || ofJob === undefined || calls === undefined) return;
    calls.splice(calls.indexOf(gather), 1);
    if (calls.length === 0) ofJob.delete(gather.peer.key);
    if (ofJob.size === 0) mine.delete(gather.asked.uuid);
    if (mine.size === 0) this.#byWorker.delete(worker);
  }
}

/** Whether it answers the call. The acceptance of a POST does not: it may come after the next call. */
function isReply({ isMmi }: Gather, { command, status }: Answer): boolean {
  if (isMmi) return command === 'mmi' || command === 'response';
  return command === 'response' && status !== 201 && status !== 202;
}

/**
 * Joins all answers. Workers that do not know the job are left out if another does. A single answer stays unchanged, byte for byte; several are
 * listed under their workers' names. The whole is pending as long as one answer is.
 */
function joined(all: readonly Said[]): Said {
  const known = all.filter(({ unknown }) => !unknown);
  const said = known.length === 0 ? all : known;
  const [first] = said;
  if (first !== undefined && said.length === 1) return first;
  const bodies = Object.fromEntries(said.map(({ worker, body }) => [worker, valueOf(worker, body)]));
  const status = [PENDING, 200, 500, REQUEST_TIMEOUT].find((each) => said.some((one) => one.status === each)) ?? 400;
  return { worker: '', status, unknown: false, body: encodeNfpJson(bodies) };
}

/** A result that is already under the worker's name is unwrapped. A body that is not JSON is text. */
function valueOf(worker: string, body: NfpBody): unknown {
  const value = decodeNfpJson(body, JOINED_MAX_BYTES);
  if (value === undefined)
    return totalBytes(body) > JOINED_MAX_BYTES ? null : body.map((frame) => decoder.decode(frame)).join('');
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, worker) && Object.keys(value).length === 1)
    return (value as Record<string, unknown>)[worker];
  return value;
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

const newMap = <Value>(): Map<string, Value> => new Map();
const newList = (): Gather[] => [];
