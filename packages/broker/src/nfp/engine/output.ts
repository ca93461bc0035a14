/** NFP broker: its messages: answers, calls to workers, KEEPALIVE, OPEN, DISCONNECT, notes (rules 1, 2, 8, 13, 17, 22, 24). */
import { encodeNfpDispatch, encodeNfpJson, nfpBrokerHeader, nfpRoutingId } from '@proj/frames/nfp';
import type {
  NfpAnswer,
  NfpBody,
  NfpCall,
  NfpCommandForm,
  NfpDialect,
  NfpDispatch,
  NfpFromBroker,
  NfpPublishedEvent,
  NfpStatus,
} from '@proj/frames/nfp';
import { OncePer } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import { StepOutput } from '@proj/transport/engine';
import type { KnownClient, KnownClients } from './peers/clients.js';
import { newCounters } from './counters.js';
import type { NfpAnswerLoss, NfpMessageDrop, NfpRefusal } from './counters.js';
import type { NfpBrokerEffect, NfpBrokerNote } from './events.js';
import type { Figures } from './figures.js';
import type { Job, Worker } from './records.js';
import { hasLong } from '../../shared/long-frames.js';

/** The worker does not know the job; 400 in the specification. */
export const JOB_UNKNOWN = 404;

/** No answer in time. */
export const REQUEST_TIMEOUT = 408;

const OF_TEXT: ReadonlySet<number> = new Set([200, 202, 300, 400, REQUEST_TIMEOUT, 417, 500]);

/** The specification's equivalent: 202 for 201, 300 for 102, 400 for 404; otherwise by the first digit. */
export function statusOfText(status: number): number {
  if (OF_TEXT.has(status)) return status;
  if (status === 201) return 202;
  if (status < 200) return 300;
  return Math.min(Math.floor(status / 100) * 100, 500);
}

/** Rule 8: an unregistered peer gets one DISCONNECT a second; this many such peers are remembered. */
const DISCONNECT_PERIOD_MS = 1000;
const DISCONNECT_MEMORY = 65_536;

/** What an answer repeats of a client's call. */
export interface Asked {
  /** How the command was written; used for a client that is not remembered. */
  readonly form?: NfpCommandForm;
  readonly service: string;
  readonly uuid: string;
  readonly target: string;
  /** The call has been answered: clients that take one answer to each call (rule 24) get no other. */
  readonly isUnasked?: boolean;
}

/** The broker's own EVENT about a worker. */
export interface Happening {
  readonly name: string;
  readonly status: 'worker-lost' | 'worker-back' | 'redispatched';
  /** For people. */
  readonly message: string;
}

/** Collects the effects of every part of the engine. */
export class Output extends StepOutput<NfpBrokerEffect> {
  override readonly counters = newCounters();
  readonly #dialect: NfpDialect;
  readonly #publishes: boolean;
  readonly #clients: KnownClients;
  readonly #figures: Figures;
  readonly #disconnects = new OncePer(DISCONNECT_PERIOD_MS, DISCONNECT_MEMORY);

  constructor(
    options: { readonly dialect: NfpDialect; readonly publish?: unknown },
    { clients, figures }: { readonly clients: KnownClients; readonly figures: Figures },
  ) {
    super();
    this.#dialect = options.dialect;
    this.#publishes = options.publish !== undefined;
    this.#clients = clients;
    this.#figures = figures;
  }

  /** How a client writes commands, by its last message; as all releases do if it is not remembered. */
  formOf(peer: Peer): NfpCommandForm {
    return this.#clients.find(peer.key)?.form ?? 'ascii';
  }

  /** An answer to a client, in its command form or, if it is not remembered, that of its call. */
  answer(peer: Peer, command: NfpAnswer, asked: Omit<Asked, 'target'>, status: NfpStatus, body: NfpBody): void {
    this.#answer(this.#clients.find(peer.key), peer, command, asked, status, body);
  }

  /**
   * A message that was not requested, or that accompanies the answer that counts. Withheld from clients that take one answer to each call (rule
   * 24).
   */
  tellUnasked(peer: Peer, command: NfpAnswer, asked: Omit<Asked, 'target'>, status: NfpStatus, body: NfpBody): void {
    const client = this.#clients.find(peer.key);
    if (client?.takesOne === true) this.counters.withheld++;
    else this.#answer(client, peer, command, asked, status, body);
  }

  /** Rule 17: an answer of management. A call by MMI is answered twice, as releases of the current dialect do. */
  answerMmi(
    peer: Peer,
    asked: { readonly service: string; readonly uuid: string },
    byMmi: boolean,
    status: NfpStatus,
    body: NfpBody,
  ): void {
    this.answer(peer, 'response', asked, status, body);
    if (byMmi && this.#dialect === 'current') this.tellUnasked(peer, 'mmi', asked, status, body);
  }

  /** 200 from a service of the broker. */
  tell(peer: Peer, call: Asked & { readonly command: NfpCall }, body: NfpBody): void {
    this.counters.mmi++;
    this.answerMmi(peer, call, call.command === 'mmi', { status: 200 }, body);
  }

  /** The broker's own answer to a call. */
  dispatch(peer: Peer, asked: Asked, status: number, said: Pick<NfpDispatch, 'workers' | 'status' | 'errors'>): void {
    const { workers, status: word, errors } = said;
    const { uuid, target, service } = asked;
    const body = encodeNfpDispatch({ workers, uuid, target, status: word, service, errors });
    if (asked.isUnasked === true) this.tellUnasked(peer, 'response', asked, { status }, body);
    else this.answer(peer, 'response', asked, { status }, body);
  }

  /** 400, or 500 if a retry may help, with a reason for humans. */
  fail(peer: Peer, asked: Asked, error: string | readonly string[], status: 400 | 500 = 400): void {
    this.dispatch(peer, asked, status, { workers: null, status: 'FAILED', errors: [error].flat() });
  }

  /** 400 or 500 to a well-formed call. */
  refuse(
    reason: NfpRefusal,
    peer: Peer,
    asked: Asked,
    error: string | readonly string[],
    status: 400 | 500 = 400,
  ): void {
    this.#dropCall(reason, peer, asked.service);
    this.fail(peer, asked, error, status);
  }

  /** 408 in place of the last word of a worker that is lost or has never come. */
  late(
    reason: 'worker-lost' | 'expired',
    peer: Peer,
    asked: Omit<Asked, 'target'>,
    worker: string,
    error: string,
  ): void {
    const { service, uuid } = asked;
    this.#dropCall(reason, peer, service);
    const body = encodeNfpJson({ worker, uuid, status: 'FAILED', service, errors: [error] });
    this.tellUnasked(peer, 'response', asked, { status: REQUEST_TIMEOUT }, body);
  }

  /** The broker's own EVENT: what happened to a job's worker. */
  event(peer: Peer, { service, uuid }: Pick<Asked, 'service' | 'uuid'>, { name, status, message }: Happening): void {
    const severity = status === 'worker-back' ? 'INFO' : 'WARNING';
    const body = encodeNfpJson({
      worker: name,
      service,
      uuid,
      event_type: 'progress',
      message,
      status,
      resource: [],
      severity,
    });
    this.counters.ownEvents++;
    this.tellUnasked(peer, 'event', { service, uuid }, { status: 200 }, body);
    if (this.#publishes) this.publish({ service, worker: nfpRoutingId(name), uuid, status: 200, body });
  }

  /** Rule 22. */
  publish(event: NfpPublishedEvent): void {
    this.counters.eventsPublished++;
    this.effects.push({ kind: 'publish', event });
  }

  /** Forwards a client's call to workers. Consecutive workers with the same command form share one object. */
  relay(workers: readonly Worker[], command: NfpCall, client: Peer, uuid: string, body: NfpBody): void {
    const header = nfpBrokerHeader(this.#dialect, 'worker-call');
    let call: NfpFromBroker | undefined;
    for (const { form, peer } of workers) {
      this.counters.relays++;
      if (call?.form !== form) call = { kind: 'worker-call', form, header, command, client: client.id, uuid, body };
      this.#send(peer, call);
    }
  }

  keepalive({ peer, form, service }: Worker): void {
    this.counters.keepalivesSent++;
    const header = nfpBrokerHeader(this.#dialect, 'broker-keepalive');
    this.#send(peer, { kind: 'broker-keepalive', form, header, service: service.name });
  }

  open(peer: Peer, form: NfpCommandForm, body: NfpBody): void {
    this.#send(peer, { kind: 'broker-open', form, header: nfpBrokerHeader(this.#dialect, 'broker-open'), body });
  }

  /** Rule 8: DISCONNECT to an unregistered peer, at most once a second. */
  disconnect(peer: Peer, form: NfpCommandForm, service: string): void {
    if (this.#disconnects.allow(peer.key, this.now)) this.farewell(peer, form, service);
    else this.counters.disconnectsWithheld++;
  }

  /** DISCONNECT to a worker whose registration ends. */
  farewell(peer: Peer, form: NfpCommandForm, service: string): void {
    this.counters.disconnectsSent++;
    const header = nfpBrokerHeader(this.#dialect, 'broker-disconnect');
    this.#send(peer, { kind: 'broker-disconnect', form, header, service, body: [] });
  }

  /** A job was sent again because its worker was lost. */
  resent({ meter }: Job): void {
    this.counters.redispatches++;
    if (meter !== undefined) meter.resends++;
  }

  dropMessage(reason: NfpMessageDrop, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.#figures.refused.add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'message-dropped', reason, peer });
  }

  /** An answer did not reach the client, or several. */
  dropAnswer(reason: NfpAnswerLoss, peer: Peer, service: string, answers = 1): void {
    this.counters.dropped[reason] += answers;
    this.#noteOf({ kind: 'note', code: 'answer-dropped', reason, peer, service });
  }

  #answer(
    client: KnownClient | undefined,
    peer: Peer,
    command: NfpAnswer,
    { service, uuid, form: written = 'ascii' }: Omit<Asked, 'target'>,
    { status, statusText }: NfpStatus,
    body: NfpBody,
  ): void {
    const header = nfpBrokerHeader(this.#dialect, 'client-answer');
    const form = client?.form ?? written;
    if (client !== undefined) client.sent++;
    const told = form === 'byte' ? statusOfText(status) : status;
    this.#send(peer, { kind: 'client-answer', form, header, command, service, uuid, status: told, statusText, body });
  }

  /** The engine no longer needs this body. */
  release(body: NfpBody): void {
    if (hasLong(body)) this.effects.push({ kind: 'release', body });
  }

  #send(peer: Peer, command: NfpFromBroker): void {
    this.effects.push({ kind: 'send', peer, command });
  }

  #dropCall(reason: NfpRefusal, peer: Peer, service: string): void {
    this.counters.dropped[reason]++;
    this.#figures.refuse(service, reason);
    this.#figures.refused.add(peer, reason);
    this.#noteOf({ kind: 'note', code: 'call-refused', reason, peer, service });
  }

  #noteOf(note: NfpBrokerNote & { reason: string; peer: Peer }): void {
    this.note(`${note.reason} ${note.peer.key}`, note);
  }
}
