/**
 * NFP, the broker: who may say what, who is alive, and what follows. The rules are those of docs/protocols/nfp.md, section
 * "Broker".
 *
 * | rules | where |
 * | --- | --- |
 * | 1 header dialects | `output.ts` |
 * | 2 command forms | `clients.ts`, `Worker.form` |
 * | 3 OPEN | `#onOpen` |
 * | 4, 6, 7 READY, signs of life, DISCONNECT | `#fromWorker`, `#onReady` |
 * | 5 KEEPALIVE and expiry | `#onTimer`, `workers.ts` |
 * | 8 unknown workers | `#fromStranger`, `output.ts` |
 * | 9 to 11 calls, targets | `calls.ts`, `targets.ts`, `dispatch.ts` |
 * | 12 waiting | `waiting.ts` |
 * | 13 lost workers | `returns.ts` |
 * | 14 closing | `#finish` |
 * | 15 answers | `#onAnswer`, `#onTableAnswer` |
 * | 16 bad input | `#onMalformed` |
 * | 17, 18 management | `own-services.ts`, `mmi.ts`, `#onManagement`, `#obey` |
 * | 20 inventory | `own-services.ts`, `inventory.ts` |
 * | 21 files | `file-calls.ts` |
 * | 23 access | `../parts/rights.ts`, `#onAccess` |
 * | 24 one answer to each call | `gathers.ts`, `statuses.ts`, `Output.tellUnasked` |
 */
import { latin1 } from '@proj/frames';
import { decodeNfpJson, decodeNfpOpenInfo, encodeNfpJson } from '@proj/frames/nfp';
import type {
  NfpClientCall,
  NfpClientOpen,
  NfpMalformed,
  NfpMalformedReason,
  NfpTask,
  NfpToBroker,
  NfpWorkerAnswer,
  NfpWorkerOpen,
  NfpWorkerReady,
  NfpWorkerTableAnswer,
} from '@proj/frames/nfp';
import type { Access, Engine, Peer, TimerEvent } from '@proj/transport';
import { ENTRY_BYTES } from '../../shared/cost.js';
import { Rights } from '../../shared/rights.js';
import { type BrokerState, newBrokerState, TERMS_MAX } from './state.js';
import { Dispatcher } from './dispatcher.js';
import { JobSender } from './job-sender.js';
import type { NfpBrokerEffect, NfpBrokerEvent, NfpMessageDrop, NfpWorkerLoss } from './events.js';
import { Gathers } from './gathers.js';
import { assertBooks } from './invariants.js';
import type { NfpBrokerAbout } from './mmi.js';
import { BROKER_MMI, isReserved, WORKER_MMI } from './names.js';
import type { NfpBrokerSettings } from '../options.js';
import { Output } from './output.js';
import { type Obey, OwnServices } from './own-services.js';
import { Returns } from './returns.js';
import { type NfpBrokerStats, statsOf } from './stats.js';
import { Waiting } from './waiting.js';
import { type Terms, Worker } from './workers.js';

type FromWorker = Exclude<NfpToBroker, NfpClientCall | NfpClientOpen | NfpMalformed>;

/** Rule 16: what a registered worker may get wrong and stay: a newer release may know more commands than we do. */
const FORGIVEN: ReadonlySet<NfpMalformedReason> = new Set(['command', 'status']);

/** Rule 16: what is wrong with a client's message that says enough to be answered. */
const COMPLAINTS: Readonly<Record<NfpMalformedReason, string>> = {
  header: 'the header is unknown',
  command: 'Unsupported client command',
  direction: 'Unsupported client command',
  short: 'the message has no body',
  shape: 'the message has a wrong shape',
  service: 'the service is not 1 to 255 bytes of printable text',
  target: 'the target is not UTF-8 of at most 65536 bytes',
  uuid: 'the uuid is not 1 to 255 bytes of printable text',
  status: 'the status is not three digits',
};

/** Rule 13: a worker with more jobs in hand that says READY again sooner is sent them with a later KEEPALIVE. */
const REPAY_PERIOD_MS = 1000;
const REPAY_AT_ONCE = 16;

/** What OPEN says of the broker: a name, and the version of the protocol that the headers stand for. */
const SELF = { name: 'proj-broker', version: '0.1' };

/** The NFP broker as a deterministic machine. It never throws on anything a peer can cause. */
export class NfpBrokerEngine implements Engine<NfpBrokerEvent, NfpBrokerEffect> {
  readonly #settings: NfpBrokerSettings;
  readonly #terms: Terms;
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #gathers: Gathers;
  readonly #calls: Dispatcher;
  readonly #waiting: Waiting;
  readonly #returns: Returns;
  readonly #own: OwnServices;
  readonly #rights = new Rights();
  #drained = false;

  constructor(settings: NfpBrokerSettings, about: NfpBrokerAbout = { versions: {}, endpoint: '' }) {
    this.#settings = settings;
    this.#terms = { intervalMs: settings.keepaliveIntervalMs, multiplier: settings.keepaliveMultiplier };
    this.#books = newBrokerState(settings);
    this.#out = new Output(settings, this.#books.clients);
    this.#gathers = new Gathers(settings, this.#out);
    const dispatch = new JobSender(settings, this.#books, this.#out);
    this.#waiting = new Waiting(settings, this.#books, this.#out, dispatch);
    this.#returns = new Returns(settings, this.#books, this.#out, dispatch, this.#waiting);
    this.#calls = new Dispatcher(this.#books, this.#out, dispatch, this.#waiting, this.#gathers);
    this.#own = new OwnServices(settings, this.#books, this.#out, about, this.#obey);
  }

  get deadline(): number {
    if (this.#drained) return Infinity;
    const { workers, jobs, holders, errands } = this.#books;
    return Math.min(
      ...[workers.deadline, jobs.deadline, holders.deadline, errands.deadline],
      ...[this.#waiting.deadline, this.#gathers.deadline],
    );
  }

  get heldBytes(): number {
    const { workers, services, clients, terms, jobs, holders } = this.#books;
    const rows = workers.size + services.size + clients.size + terms.size + holders.size;
    return jobs.heldBytes + this.#gathers.heldBytes + rows * ENTRY_BYTES;
  }

  step(event: NfpBrokerEvent | TimerEvent, now: number): readonly NfpBrokerEffect[] {
    this.#out.begin(now);
    if (!this.#drained) this.#handle(event);
    return this.#out.effects;
  }

  /** Sizes now and totals so far; the cost is linear in the number of services. */
  stats(): NfpBrokerStats {
    return statsOf(this.#books, this.#out.counters);
  }

  assertInvariants(): void {
    assertBooks(this.#books, this.#settings);
    this.#gathers.assertInvariants();
  }

  #handle(event: NfpBrokerEvent | TimerEvent): void {
    switch (event.kind) {
      case 'started':
        this.#waiting.begin();
        break;
      case 'message':
        if (event.at === 'management') this.#onManagement(event.peer, event.command);
        else this.#onMessage(event.peer, event.command);
        break;
      case 'timer':
        this.#onTimer(event.lateMs);
        break;
      case 'undeliverable':
        this.#onUndeliverable(event);
        break;
      case 'peer-gone': {
        const worker = this.#books.workers.find(event.peer.key);
        if (worker !== undefined) this.#lose([worker], 'gone');
        this.#books.terms.delete(event.peer.key);
        this.#gathers.leave(event.peer);
        break;
      }
      case 'rejected':
        this.#out.dropMessage(event.reason, event.peer);
        break;
      case 'file-answer':
        this.#own.onFileAnswer(event.id, event.outcome);
        break;
      case 'inventory':
        this.#books.inventory = event.inventory;
        break;
      case 'memory':
        this.#books.jobs.isTight = this.#gathers.isTight = event.isTight;
        break;
      case 'access':
        this.#onAccess(event.access);
        break;
      case 'drain':
        this.#finish();
        break;
    }
  }

  #onMessage(peer: Peer, command: NfpToBroker): void {
    switch (command.kind) {
      case 'client-call':
        this.#onCall(peer, command);
        break;
      case 'client-open':
        this.#books.clients.heard(peer, command.form, this.#out.now);
        this.#onOpen(peer, command);
        break;
      case 'malformed':
        this.#onMalformed(peer, command);
        break;
      default: {
        const worker = this.#books.workers.find(peer.key) ?? this.#reconnected(peer, command);
        if (worker === undefined) this.#fromStranger(peer, command);
        else this.#fromWorker(worker, peer, command);
      }
    }
  }

  #onCall(from: Peer, call: NfpClientCall): void {
    if (this.#rights.forbid(from, 'request', call.service)) {
      this.#forbid(from, call);
      return;
    }
    const peer = this.#heard(from, call);
    if (!this.#own.accept(peer, call, false)) this.#calls.accept(peer, call);
  }

  /** Rule 23; PUT has no answer. Who may not ask is not remembered either. */
  #forbid(peer: Peer, call: NfpClientCall): void {
    if (call.command === 'put') this.#out.dropMessage('not-allowed', peer);
    else this.#out.refuse('not-allowed', peer, call, 'the rules of access do not let this key request the service');
  }

  #heard(from: Peer, { form, command }: NfpClientCall): Peer {
    const client = this.#books.clients.heard(from, form, this.#out.now);
    this.#out.counters.calls[command]++;
    if (command === 'post') client.jobs++;
    return client.peer;
  }

  /** Rule 18: who reaches that endpoint may do what it is for, and nothing else. */
  #onManagement(peer: Peer, command: NfpToBroker): void {
    switch (command.kind) {
      case 'client-call':
        this.#heard(peer, command);
        if (command.service === BROKER_MMI) this.#own.accept(peer, command, true);
        else this.#out.refuse('not-management', peer, command, `only ${BROKER_MMI} is served at this endpoint`);
        break;
      case 'client-open':
      case 'malformed':
        this.#onMessage(peer, command);
        break;
      default:
        this.#out.dropMessage('direction', peer);
    }
  }

  /** Rule 4: the worker of a registration whose connection had ended speaks again. READY begins a new one, DISCONNECT ends it. */
  #reconnected(peer: Peer, command: FromWorker): Worker | undefined {
    const holder = this.#books.holders.find(peer.key);
    const away = holder?.away;
    if (away === undefined || away.until <= this.#out.now) return undefined;
    const { service, terms } = away.worker;
    // OPEN comes before READY.
    if (command.kind === 'worker-open' || command.kind === 'worker-ready' || command.kind === 'worker-disconnect')
      return undefined;
    if (this.#rights.forbid(peer, 'serve', service.name)) return undefined;
    return this.#register(peer, command.form, service.name, terms);
  }

  /** Rules 3, 4, 7 and 8, before READY. */
  #fromStranger(peer: Peer, command: FromWorker): void {
    switch (command.kind) {
      case 'worker-open':
        this.#onOpen(peer, command);
        break;
      case 'worker-ready':
        this.#onReady(peer, command);
        break;
      case 'worker-disconnect':
        this.#books.terms.delete(peer.key);
        this.#books.holders.find(peer.key)?.end();
        break;
      case 'worker-answer':
        this.#refuse(peer, command, '', 'unknown-worker');
        break;
      case 'worker-keepalive':
      case 'worker-table-answer':
        this.#refuse(peer, command, command.service, 'unknown-worker');
        break;
    }
  }

  /**
   * Rules 4, 6, 7 and 15, after READY. Everything but DISCONNECT is a sign of life. `peer` is its sender: the worker, or else
   * somebody of its routing id with another key, who can do it no harm.
   */
  #fromWorker(worker: Worker, peer: Peer, command: FromWorker): void {
    if (this.#rights.forbid(peer, 'serve', worker.service.name)) {
      this.#out.dropMessage('not-allowed', peer);
      return;
    }
    if (command.kind === 'worker-disconnect') {
      this.#lose([worker], 'disconnected');
      return;
    }
    worker.lastSeen = this.#out.now;
    worker.form = command.form;
    switch (command.kind) {
      case 'worker-open':
        this.#onOpen(worker.peer, command);
        break;
      case 'worker-ready':
        this.#onReadyAgain(worker, command);
        break;
      case 'worker-keepalive':
        worker.keepalivesReceived++;
        break;
      case 'worker-answer':
        this.#onAnswer(worker, command);
        break;
      case 'worker-table-answer':
        this.#onTableAnswer(worker, command);
        break;
    }
  }

  /** Rule 3: answered with what holds from now on. */
  #onOpen(peer: Peer, { kind, form, body }: NfpClientOpen | NfpWorkerOpen): void {
    const { workers, terms } = this.#books;
    const info = decodeNfpOpenInfo(body);
    if (info === undefined && decodeNfpJson(body) === undefined) this.#out.dropMessage('open-body', peer);
    const agreed = info === undefined ? this.#terms : termsOf(info.keepalive);
    if (kind === 'worker-open') {
      const worker = workers.find(peer.key);
      if (worker !== undefined) workers.change(worker, agreed, this.#out.now);
      else this.#remember(peer, agreed, terms);
    }
    const keepalive = { interval: agreed.intervalMs, multiplier: agreed.multiplier };
    this.#out.open(peer, form, encodeNfpJson({ ...SELF, keepalive }));
  }

  /** Bounded: whoever never says READY is forgotten first. */
  #remember(peer: Peer, agreed: Terms, terms: Map<string, Terms>): void {
    terms.delete(peer.key);
    terms.set(peer.key, agreed);
    if (terms.size <= TERMS_MAX) return;
    for (const key of terms.keys()) {
      terms.delete(key);
      return;
    }
  }

  /** Rule 4. */
  #onReady(peer: Peer, { form, service: name }: NfpWorkerReady): void {
    const { terms } = this.#books;
    if (isReserved(name)) {
      this.#refuse(peer, { form }, name, 'reserved-service');
    } else if (this.#rights.forbid(peer, 'serve', name)) {
      this.#refuse(peer, { form }, name, 'not-allowed');
    } else {
      this.#register(peer, form, name, terms.get(peer.key) ?? this.#terms);
    }
  }

  /** Rules 4 and 19. What the worker may not have got, or should not do any more, follows at once (rule 13). */
  #register(peer: Peer, form: Worker['form'], name: string, terms: Terms): Worker | undefined {
    const { workers, services, holders } = this.#books;
    const known = services.find(name);
    if (!services.mayServe(known)) {
      this.#refuse(peer, { form }, name, 'services-limit');
    } else if (workers.size >= this.#settings.workersMax) {
      this.#refuse(peer, { form }, name, 'workers-limit');
    } else {
      const service = known ?? services.add(name);
      const worker = new Worker(peer, service, form, terms, this.#out.now);
      const wasLost = holders.find(peer.key) !== undefined;
      this.#books.terms.delete(peer.key);
      workers.add(worker);
      worker.holder = holders.arrive(worker);
      services.join(worker);
      this.#out.counters.workersReady++;
      this.#out.effects.push({ kind: 'worker-ready', peer, service: name });
      this.#returns.returned(worker, wasLost);
      return worker;
    }
    return undefined;
  }

  /** Rule 4. Whoever says READY twice was started again in between, and may have lost what it was sent (rule 13). */
  /** What it may not have is sent to it once more: all of that, for a few bytes, and so once in a while only. */
  #comeBack(worker: Worker): void {
    const { now } = this.#out;
    worker.isOwed = worker.holder.parts.size > REPAY_AT_ONCE && now - worker.repaidAt < REPAY_PERIOD_MS;
    if (worker.isOwed) return;
    worker.repaidAt = now;
    this.#returns.returned(worker, false);
  }

  #onReadyAgain(worker: Worker, { service }: NfpWorkerReady): void {
    if (service === worker.service.name) {
      this.#out.counters.repeatedReadies++;
      this.#comeBack(worker);
    } else {
      this.#expel(worker, 'unexpected');
    }
  }

  /** Rule 15: to the client whose address it bears. */
  #onAnswer(worker: Worker, answer: NfpWorkerAnswer): void {
    const client = { key: latin1(answer.client), id: answer.client };
    if (!this.#hears(worker, client.key, answer)) return;
    this.#publish(worker, answer);
    if (this.#gathers.answer(worker, client.key, answer)) this.#out.counters.answers[answer.command]++;
    else this.#pass(client, worker, answer);
  }

  /** Rule 15: to the client that asked, as far as it is remembered. */
  #onTableAnswer(worker: Worker, answer: NfpWorkerTableAnswer): void {
    const { command, service, uuid } = answer;
    const job = this.#books.jobs.find(uuid);
    const isOwn = service === worker.service.name || (service === WORKER_MMI && command === 'mmi');
    if (isOwn && !this.#hears(worker, undefined, answer)) return;
    const isPublished = isOwn && this.#publish(worker, answer);
    if (isOwn && this.#gathers.answer(worker, undefined, answer)) {
      this.#out.counters.answers[command]++;
      return;
    }
    if (job === undefined || !isOwn || !(job.service === service || isReserved(job.service))) {
      // An EVENT whose uuid is no job of ours is for subscribers only.
      if (isPublished && job === undefined) return;
      this.#out.dropAnswer('no-owner', worker.peer, service);
      return;
    }
    this.#pass(command === 'event' || command === 'stream' ? job.poster : job.asker, worker, answer);
  }

  /** Rule 13. Who is owed one answer for it all the same is told to ask again. */
  #hears(worker: Worker, client: string | undefined, answer: NfpWorkerAnswer | NfpWorkerTableAnswer): boolean {
    const { uuid, command, status } = answer;
    if (this.#returns.hears(worker, uuid, command, status)) return true;
    this.#gathers.answer(worker, client, { ...answer, status: 300 });
    this.#out.dropAnswer('superseded', worker.peer, worker.service.name);
    return false;
  }

  /** Rule 22: every EVENT goes to subscribers too; false when there cannot be any, or it is none. */
  #publish(worker: Worker, answer: NfpWorkerAnswer | NfpWorkerTableAnswer): boolean {
    if (this.#settings.publish === undefined || answer.command !== 'event') return false;
    const { uuid, status, statusText, body } = answer;
    const event = { service: worker.service.name, worker: worker.peer.id, uuid, status, statusText, body };
    this.#out.counters.eventsPublished++;
    this.#out.effects.push({ kind: 'publish', event });
    return true;
  }

  #pass(peer: Peer, worker: Worker, answer: NfpWorkerAnswer | NfpWorkerTableAnswer): void {
    const { command, uuid, body } = answer;
    this.#out.counters.answers[command]++;
    if (command !== 'mmi') {
      this.#out.tellUnasked(peer, command, { service: worker.service.name, uuid }, answer, body);
      return;
    }
    const job = this.#books.jobs.find(uuid);
    const byMmi = job === undefined || job.command === 'mmi';
    this.#out.answerMmi(peer, { service: job?.service ?? WORKER_MMI, uuid }, byMmi, answer, body);
  }

  /** Rule 16. */
  #onMalformed(peer: Peer, { reason, side, answer }: NfpMalformed): void {
    const worker = side === 'worker' ? this.#books.workers.find(peer.key) : undefined;
    if (worker !== undefined && this.#rights.forbid(peer, 'serve', worker.service.name)) {
      this.#out.dropMessage('not-allowed', peer);
      return;
    }
    this.#out.dropMessage(reason, peer);
    if (answer !== undefined) {
      this.#books.clients.heard(peer, answer.form, this.#out.now);
      const complaint = COMPLAINTS[reason];
      const isCommand = reason === 'command' || reason === 'direction';
      this.#out.fail(peer, answer, isCommand ? `${complaint} '${answer.command}'` : complaint);
    }
    if (worker !== undefined && !FORGIVEN.has(reason)) this.#expel(worker, 'invalid');
  }

  /** Rule 18. The answer comes before what it announces. */
  readonly #obey: Obey = (order, { kwargs }, peer, call) => {
    const choice = order === 'shutdown' ? () => false : order === 'restart' ? () => true : chosenBy(kwargs);
    if (choice === undefined) {
      this.#out.refuse('task', peer, call, 'disconnect: service is no text, or workers is no list of texts');
      return;
    }
    const leaving = [...this.#books.workers.values()].filter(choice);
    const said = {
      restart: 'restarting',
      shutdown: 'shutting down',
      disconnect: { disconnected: leaving.map(nameOf) },
    };
    this.#own.tell(peer, call, said[order]);
    for (const worker of leaving) this.#out.farewell(worker.peer, worker.form, worker.service.name);
    this.#lose(leaving, 'dismissed');
    if (order === 'restart') this.#books.terms.clear();
    this.#out.effects.push({ kind: 'management', task: order, peer });
  };

  /** Rule 23: also for workers that are registered; calls that were taken stay taken. */
  #onAccess(access: Access): void {
    this.#rights.replace(access);
    const dismissed: Worker[] = [];
    for (const worker of this.#books.workers.values())
      if (!access.allows(worker.peer, 'serve', worker.service.name)) dismissed.push(worker);
    for (const worker of dismissed) this.#out.farewell(worker.peer, worker.form, worker.service.name);
    this.#lose(dismissed, 'not-allowed');
  }

  /** Rule 8, to a stranger. */
  #refuse(peer: Peer, { form }: { readonly form: Worker['form'] }, service: string, reason: NfpMessageDrop): void {
    this.#out.dropMessage(reason, peer);
    this.#out.disconnect(peer, form, service);
  }

  /** DISCONNECT to a registered worker, which then is none. */
  #expel(worker: Worker, reason: NfpWorkerLoss): void {
    this.#out.farewell(worker.peer, worker.form, worker.service.name);
    this.#lose([worker], reason);
  }

  /** Workers are no more; all are forgotten before what they had goes to others. Nothing is sent to them from here on. */
  #lose(lost: readonly Worker[], reason: NfpWorkerLoss): void {
    const { workers, services, holders } = this.#books;
    const { now } = this.#out;
    // They are expected back soon: their registration goes on until they have been silent for too long.
    const isAway = reason === 'gone' || reason === 'unreachable' || reason === 'dismissed';
    for (const worker of lost) {
      const { peer, service } = worker;
      workers.remove(worker);
      services.leave(worker);
      services.tidy(service);
      this.#gathers.lose(worker);
      holders.leave(worker.holder, isAway ? workers.lifeOf(worker) : undefined, now);
      this.#out.counters.workersLost++;
      this.#out.effects.push({ kind: 'worker-lost', peer, service: service.name, reason });
    }
    if (reason === 'drained') this.#returns.letGo();
    else this.#returns.lost(lost, reason === 'dismissed');
  }

  /** What did not get there: a worker is lost by it, a client only its answer. */
  #onUndeliverable({ peer, command, reason }: NfpBrokerEvent & { kind: 'undeliverable' }): void {
    const worker = this.#books.workers.find(peer.key);
    switch (command.kind) {
      case 'worker-call':
      case 'worker-table-call':
      case 'broker-keepalive':
        if (worker !== undefined) this.#lose([worker], reason);
        break;
      case 'client-answer':
        this.#out.dropAnswer('unroutable', peer, command.service);
        break;
      case 'broker-open':
      case 'broker-disconnect':
      // They find nobody, and have nothing left to do.
    }
  }

  /** Rule 5. All that are due go before the first job is sent again, or it would be given to one that goes next. */
  #onTimer(lateMs: number): void {
    const { workers, jobs, holders } = this.#books;
    const { now } = this.#out;
    if (lateMs > this.#settings.keepaliveIntervalMs) {
      workers.postponeExpiry(lateMs, now);
      jobs.postpone(lateMs, now);
      holders.postpone(lateMs, now);
      this.#gathers.postpone(lateMs);
      this.#out.effects.push({ kind: 'note', code: 'running-late', lateMs });
    }
    const silent: Worker[] = [];
    for (let due = workers.takeDue(now); due !== undefined; due = workers.takeDue(now)) {
      if (due.silent) {
        silent.push(due.worker);
      } else {
        workers.beat(due.worker, now);
        this.#out.keepalive(due.worker);
        if (due.worker.isOwed) this.#comeBack(due.worker);
      }
    }
    if (silent.length > 0) this.#lose(silent, 'expired');
    this.#returns.expire();
    this.#waiting.settle();
    this.#waiting.expire();
    this.#gathers.expire();
    this.#books.errands.goOn(now);
  }

  /** Rule 14. The broker itself works at nothing, so there is nothing to wait for. */
  #finish(): void {
    this.#books.errands.clear();
    this.#waiting.abandon();
    this.#gathers.abandon();
    this.#own.abandon();
    const all = [...this.#books.workers.values()];
    for (const { peer, form, service } of all) this.#out.farewell(peer, form, service.name);
    this.#drained = true;
    this.#lose(all, 'drained');
    this.#out.effects.push({ kind: 'drained' });
  }
}

/** Rule 3: what the peer wishes, within limits. */
function termsOf({ interval, multiplier }: { readonly interval: number; readonly multiplier: number }): Terms {
  return { intervalMs: clamp(Math.round(interval), 100, 600_000), multiplier: clamp(Math.round(multiplier), 2, 20) };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

/** Rule 18: `disconnect` may name a service and workers; `undefined` when it names neither by texts. */
function chosenBy({ service, workers }: NfpTask['kwargs']): ((worker: Worker) => boolean) | undefined {
  const isList = Array.isArray(workers) && workers.every((name) => typeof name === 'string');
  if (!isAbsent(workers) && !isList) return undefined;
  if (!isAbsent(service) && typeof service !== 'string') return undefined;
  const names = isList ? new Set(workers) : undefined;
  return (worker) =>
    (typeof service !== 'string' || worker.service.name === service) && (names === undefined || names.has(worker.name));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function nameOf({ name }: Worker): string {
  return name;
}
