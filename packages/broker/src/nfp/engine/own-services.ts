/** NFP broker: the services it provides itself, management, inventory and files (rules 17, 18, 20, 21). What management orders is `engine.ts`. */
import { decodeNfpTask, encodeNfpJson } from '@proj/frames/nfp';
import type { NfpBody, NfpClientCall, NfpTask } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import { Listings } from '../../shared/listings.js';
import type { BrokerState } from './state.js';
import type { NfpFileOutcome, NfpManagementNotice } from './events.js';
import { FileCalls } from './file-calls.js';
import { inventoryOf } from './inventory.js';
import { type NfpBrokerAbout, linesOf, MANAGEMENT, questionOf, show } from './mmi.js';
import { BROKER_FSS, BROKER_MMI, BROKER_SID } from './names.js';
import type { NfpBrokerSettings } from '../options.js';
import type { Output } from './output.js';

/** Performs an order of management, and answers it. */
export type Obey = (order: NfpManagementNotice['task'], task: NfpTask, peer: Peer, call: NfpClientCall) => void;

/** Answers calls to services of the broker. */
export class OwnServices {
  readonly #settings: NfpBrokerSettings;
  readonly #books: BrokerState;
  readonly #out: Output;
  readonly #about: NfpBrokerAbout;
  readonly #obey: Obey;
  readonly #files: FileCalls;
  readonly #listings = new Listings<NfpBody>();

  constructor(settings: NfpBrokerSettings, books: BrokerState, out: Output, about: NfpBrokerAbout, obey: Obey) {
    this.#settings = settings;
    this.#books = books;
    this.#out = out;
    this.#about = about;
    this.#obey = obey;
    this.#files = new FileCalls(settings, out);
  }

  /** True when the call is for one of them; it is answered then, now or when its files are read. */
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

  /** Files were read, or not. */
  onFileAnswer(id: number, outcome: NfpFileOutcome): void {
    this.#files.answer(id, outcome);
  }

  /** Rule 14: gives up what waits for files. */
  abandon(): void {
    this.#files.abandon();
  }

  /** Answers with 200. */
  tell(peer: Peer, call: NfpClientCall, result: unknown): void {
    this.#out.tell(peer, call, encodeNfpJson(result));
  }

  #serves(service: string): boolean {
    switch (service) {
      case BROKER_MMI:
        return true;
      case BROKER_SID:
        return this.#books.inventory !== undefined;
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

  #show(task: NfpTask): NfpBody {
    const { now } = this.#out;
    const make = () => encodeNfpJson(show(task, this.#books, this.#settings, this.#about, now));
    return this.#listings.answer(questionOf(task), linesOf(task, this.#books, this.#about), now, make);
  }

  /** Rule 20. */
  #inventory(peer: Peer, call: NfpClientCall, { task, kwargs, args }: NfpTask): void {
    const { name = args[0] } = kwargs;
    if (task !== 'get_inventory') this.tell(peer, call, `Unsupported task '${task}'`);
    else if (typeof name !== 'string') this.#out.refuse('task', peer, call, 'get_inventory: name is no text');
    else this.tell(peer, call, (this.#books.inventory && inventoryOf(this.#books.inventory, name)) ?? null);
  }
}
