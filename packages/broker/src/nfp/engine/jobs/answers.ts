/** NFP broker: workers' answers on their way to clients and subscribers. Rules 13, 15, 22 and 24. */
import { equalBytes, latin1 } from '@proj/frames';
import type { NfpWorkerAnswer, NfpWorkerTableAnswer } from '@proj/frames/nfp';
import type { Peer } from '@proj/transport';
import type { NfpBrokerSettings } from '../../options.js';
import type { Gathers } from './gathers.js';
import { isReserved, WORKER_MMI } from '../management/reserved-names.js';
import type { Output } from '../output.js';
import type { Job, Worker } from '../records.js';
import type { LostWorkers } from './lost-workers.js';
import type { BrokerState } from '../state.js';

/** Forwards, joins, publishes or drops workers' answers. */
export class Answers {
  readonly #settings: NfpBrokerSettings;
  readonly #state: BrokerState;
  readonly #out: Output;
  readonly #lostWorkers: LostWorkers;
  readonly #gathers: Gathers;

  constructor(
    settings: NfpBrokerSettings,
    state: BrokerState,
    out: Output,
    lostWorkers: LostWorkers,
    gathers: Gathers,
  ) {
    this.#settings = settings;
    this.#state = state;
    this.#out = out;
    this.#lostWorkers = lostWorkers;
    this.#gathers = gathers;
  }

  /** Rule 15: goes to the client whose address it has. */
  addressed(worker: Worker, answer: NfpWorkerAnswer): void {
    const job = this.#state.jobs.find(answer.uuid);
    const client = clientOf(answer.client, job);
    if (!this.#hears(worker, job, client.key, answer)) return;
    this.#publish(worker, answer);
    if (!this.#gather(worker, client.key, answer)) this.#pass(client, worker, answer);
  }

  /** Rule 15: has no address, so it goes to the client that asked, if remembered. */
  unaddressed(worker: Worker, answer: NfpWorkerTableAnswer): void {
    const { command, service, uuid } = answer;
    const job = this.#state.jobs.find(uuid);
    const isOwn = service === worker.service.name || (service === WORKER_MMI && command === 'mmi');
    if (isOwn && !this.#hears(worker, job, undefined, answer)) return;
    const isPublished = isOwn && this.#publish(worker, answer);
    if (isOwn && this.#gather(worker, undefined, answer)) return;
    if (job !== undefined && isOwn && (job.service === service || isReserved(job.service)))
      this.#pass(command === 'event' || command === 'stream' ? job.poster : job.asker, worker, answer);
    // An EVENT whose uuid is not a known job is for subscribers only.
    else if (!isPublished || job !== undefined) this.#out.dropAnswer('no-owner', worker.peer, service);
  }

  /** Rule 13. A client that still awaits one answer for this worker is told to ask again. */
  #hears(
    worker: Worker,
    job: Job | undefined,
    client: string | undefined,
    answer: NfpWorkerAnswer | NfpWorkerTableAnswer,
  ): boolean {
    const part = job?.partAt(worker.holder);
    if (part === undefined || this.#lostWorkers.hears(part, answer)) return true;
    this.#gathers.answer(worker, client, { ...answer, status: 300 });
    this.#out.dropAnswer('superseded', worker.peer, worker.service.name);
    return false;
  }

  /** Rule 24: true if an open call waits for this answer. */
  #gather(worker: Worker, client: string | undefined, answer: NfpWorkerAnswer | NfpWorkerTableAnswer): boolean {
    if (!this.#gathers.answer(worker, client, answer)) return false;
    this.#out.counters.answers[answer.command]++;
    return true;
  }

  /** Rule 22: publishes an EVENT; false if nothing is published. */
  #publish(worker: Worker, answer: NfpWorkerAnswer | NfpWorkerTableAnswer): boolean {
    if (this.#settings.publish === undefined || answer.command !== 'event') return false;
    const { uuid, status, statusText, body } = answer;
    this.#out.publish({ service: worker.service.name, worker: worker.peer.id, uuid, status, statusText, body });
    return true;
  }

  #pass(peer: Peer, worker: Worker, answer: NfpWorkerAnswer | NfpWorkerTableAnswer): void {
    const { command, uuid, body } = answer;
    this.#out.counters.answers[command]++;
    if (command !== 'mmi') {
      this.#out.tellUnasked(peer, command, { service: worker.service.name, uuid }, answer, body);
      return;
    }
    const job = this.#state.jobs.find(uuid);
    const byMmi = job === undefined || job.command === 'mmi';
    this.#out.answerMmi(peer, { service: job?.service ?? WORKER_MMI, uuid }, byMmi, answer, body);
  }
}

/** The client with this address: nearly always the one that posted the job. */
function clientOf(address: Uint8Array, job: Job | undefined): Peer {
  return job !== undefined && equalBytes(job.poster.id, address) ? job.poster : { key: latin1(address), id: address };
}
