/** NFP broker: the services it provides itself: management, inventory and files (rules 17, 18, 20, 21). */
import { decodeNfpTask, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall, NfpTask } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import { Listings } from '../../../shared/listings.js';
import type { BrokerState } from '../state.js';
import type { NfpFileOutcome } from '../events.js';
import { FileCalls } from './file-calls.js';
import { inventoryOf } from './inventory.js';
import { type NfpBrokerAbout, linesOf, MANAGEMENT, questionOf, show } from './mmi.js';
import { BROKER_FSS, BROKER_MMI, BROKER_SID } from './reserved-names.js';
import type { NfpBrokerSettings } from '../../options.js';
import type { Output } from '../output.js';
import type { Worker } from '../records.js';
import type { Registration } from '../peers/registration.js';

/** Answers calls to services of the broker. */
export class OwnServices {
  readonly #settings: NfpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #about: NfpBrokerAbout;
  readonly #registration: Registration;
  readonly #files: FileCalls;
  readonly #listings = new Listings<NfpBody>();

  constructor(
    settings: NfpBrokerSettings,
    state: BrokerState,
    out: Output,
    about: NfpBrokerAbout,
    registration: Registration,
  ) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#about = about;
    this.#registration = registration;
    this.#files = new FileCalls(settings, out);
  }

  /** True if the call is for one of these services: then it is answered, now or once its files are read. */
  accept(peer: Peer, call: NfpClientCall, mayManage: boolean): boolean {
    if (!this.#serves(call.service)) return false;
    const task = decodeNfpTask(call.body);
    if (task === undefined)
      this.#out.refuse('task', peer, call, 'the body is not {"task":text,"kwargs":object,"args":array}');
    else if (call.service === BROKER_MMI) this.#manage(peer, call, task, mayManage);
    else if (call.service === BROKER_SID) this.#inventory(peer, call, task);
    else this.#files.accept(peer, call, task);
    return true;
  }

  onFileAnswer(id: number, outcome: NfpFileOutcome): void {
    this.#files.answer(id, outcome);
  }

  /** Rule 14: gives up calls that wait for files. */
  abandon(): void {
    this.#files.abandon();
  }

  #serves(service: string): boolean {
    switch (service) {
      case BROKER_MMI:
        return true;
      case BROKER_SID:
        return this.#state.inventory !== undefined;
      case BROKER_FSS:
        return this.#settings.files !== undefined;
      default:
        return false;
    }
  }

  /** Rules 17 and 18. */
  #manage(peer: Peer, call: NfpClientCall, task: NfpTask, mayManage: boolean): void {
    const order = MANAGEMENT.find((name) => name === task.task);
    if (order === undefined) this.#out.tell(peer, call, this.#show(task));
    else if (mayManage || this.#settings.managementCommands) this.#obey(order, task, peer, call);
    else this.#out.refuse('management', peer, call, `management command '${order}' is not enabled`);
  }

  /** Rule 18. The answer is sent before the order is executed. */
  #obey(order: (typeof MANAGEMENT)[number], { kwargs }: NfpTask, peer: Peer, call: NfpClientCall): void {
    const isChosen = order === 'shutdown' ? () => false : order === 'restart' ? () => true : chosenBy(kwargs);
    if (isChosen === undefined) {
      this.#out.refuse('task', peer, call, 'disconnect: service is no text, or workers is no list of texts');
      return;
    }
    const leaving = [...this.#state.workers.values()].filter(isChosen);
    const answers = {
      restart: 'restarting',
      shutdown: 'shutting down',
      disconnect: { disconnected: leaving.map(({ name }) => name) },
    };
    this.#tell(peer, call, answers[order]);
    this.#registration.dismiss(leaving, 'dismissed');
    if (order === 'restart') this.#state.terms.clear();
    this.#out.effects.push({ kind: 'management', task: order, peer });
  }

  #show(task: NfpTask): NfpBody {
    const { now } = this.#out;
    const make = () => encodeNfpJson(show(task, this.#state, this.#settings, this.#about, now));
    return this.#listings.answer(questionOf(task), linesOf(task, this.#state, this.#about), now, make);
  }

  /** Rule 20. */
  #inventory(peer: Peer, call: NfpClientCall, { task, kwargs, args }: NfpTask): void {
    const { name = args[0] } = kwargs;
    if (task !== 'get_inventory') this.#tell(peer, call, `Unsupported task '${task}'`);
    else if (typeof name !== 'string') this.#out.refuse('task', peer, call, 'get_inventory: name is no text');
    else this.#tell(peer, call, (this.#state.inventory && inventoryOf(this.#state.inventory, name)) ?? null);
  }

  #tell(peer: Peer, call: NfpClientCall, result: unknown): void {
    this.#out.tell(peer, call, encodeNfpJson(result));
  }
}

/** Rule 18: `disconnect` may name a service and workers; `undefined` if either has the wrong type. */
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
