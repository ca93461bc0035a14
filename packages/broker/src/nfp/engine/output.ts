/** NFP broker: the effects of the step under way, the totals, and the limits on what is said (rules 1, 2, 8; notes). */
import { encodeNfpJson, nfpBrokerHeader, nfpRoutingId } from '@proj/frames/nfp';
import type {
  NfpAnswer,
  NfpBody,
  NfpCall,
  NfpCommandForm,
  NfpDialect,
  NfpDispatch,
  NfpFromBroker,
  NfpStatus,
} from '@proj/frames/nfp';
import { oncePerMinute, OncePer } from '@proj/heartbeat';
import type { Peer } from '@proj/transport';
import type { KnownClients } from './clients.js';
import { newCounters } from './counters.js';
import type { NfpAnswerLoss, NfpBrokerEffect, NfpBrokerNote, NfpMessageDrop, NfpRefusal } from './events.js';
import { statusOfText } from './statuses.js';
import type { Worker } from './workers.js';

/** Rule 8: a stranger gets one DISCONNECT a second; strangers remembered. */
const DISCONNECT_PERIOD_MS = 1000;
const DISCONNECT_MEMORY = 65_536;

/** A client's call, as far as an answer must repeat it. */
export interface Asked {
  /** How it was written; counts for who is not remembered. */
  readonly form?: NfpCommandForm;
  readonly service: string;
  readonly uuid: string;
  readonly target: string;
  /** Its call has had its answer: who takes one to each call (rule 24) is not told. */
  readonly isUnasked?: boolean;
}

/** What an EVENT of the broker tells about a worker. */
export interface Happening {
  readonly name: string;
  readonly status: 'worker-lost' | 'worker-back' | 'redispatched';
  /** For people. */
  readonly message: string;
}

/** Where every part of the engine puts its effects. */
export class Output {
  /** Running totals. */
  readonly counters = newCounters();
  readonly dialect: NfpDialect;
  /** Time of the step under way. */
  now = 0;
  effects: NfpBrokerEffect[] = [];
  readonly #disconnects = new OncePer(DISCONNECT_PERIOD_MS, DISCONNECT_MEMORY);
  readonly #notes = oncePerMinute();
  readonly #clients: KnownClients;
  readonly #publishes: boolean;

  constructor(options: { readonly dialect: NfpDialect; readonly publish?: unknown }, clients: KnownClients) {
    this.dialect = options.dialect;
    this.#publishes = options.publish !== undefined;
    this.#clients = clients;
  }

  /** Begins a step. The effects of the last one are its receiver's. */
  begin(now: number): void {
    this.now = now;
    this.effects = [];
  }

  /** The form in which a client is answered: that of its last message, or of every release when it is not remembered. */
  formOf(peer: Peer): NfpCommandForm {
    return this.#clients.find(peer.key)?.form ?? 'ascii';
  }

  /** An answer to a client, in the form it uses: when it is not remembered that of its call, or else that of every release. */
  answer(
    peer: Peer,
    command: NfpAnswer,
    { service, uuid, form: written = 'ascii' }: Omit<Asked, 'target'>,
    { status, statusText }: NfpStatus,
    body: NfpBody,
  ): void {
    const header = nfpBrokerHeader(this.dialect, 'client-answer');
    const client = this.#clients.find(peer.key);
    const form = client?.form ?? written;
    if (client !== undefined) client.sent++;
    const told = form === 'byte' ? statusOfText(status) : status;
    this.#send(peer, { kind: 'client-answer', form, header, command, service, uuid, status: told, statusText, body });
  }

  /** What a worker says unasked, or besides the answer that counts. Who takes one answer to each call (rule 24) is not told. */
  tellUnasked(peer: Peer, command: NfpAnswer, asked: Omit<Asked, 'target'>, status: NfpStatus, body: NfpBody): void {
    if (this.#clients.find(peer.key)?.takesOne === true) this.counters.withheld++;
    else this.answer(peer, command, asked, status, body);
  }

  /** Rule 17: an answer of a management interface; who asked by MMI is answered twice, as by releases of the current dialect. */
  answerMmi(
    peer: Peer,
    asked: { readonly service: string; readonly uuid: string },
    byMmi: boolean,
    status: NfpStatus,
    body: NfpBody,
  ): void {
    this.answer(peer, 'response', asked, status, body);
    if (byMmi && this.dialect === 'current') this.tellUnasked(peer, 'mmi', asked, status, body);
  }

  /** 200 of a service of the broker. */
  tell(peer: Peer, call: Asked & { readonly command: NfpCall }, body: NfpBody): void {
    this.counters.mmi++;
    this.answerMmi(peer, call, call.command === 'mmi', { status: 200 }, body);
  }

  /** What the broker itself says to a call. */
  dispatch(peer: Peer, asked: Asked, status: number, said: Pick<NfpDispatch, 'workers' | 'status' | 'errors'>): void {
    const { workers, status: word, errors } = said;
    const { uuid, target, service } = asked;
    const body = encodeNfpJson({ workers, uuid, target, status: word, service, errors } satisfies NfpDispatch);
    if (asked.isUnasked === true) this.tellUnasked(peer, 'response', asked, { status }, body);
    else this.answer(peer, 'response', asked, { status }, body);
  }

  /** 400, or 500 where asking again may help, with a reason for people. */
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
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'call-refused', reason, peer, service: asked.service });
    this.fail(peer, asked, error, status);
  }

  /** 408, what a worker that is lost or has never come would have had to say last. */
  late(
    reason: 'worker-lost' | 'expired',
    peer: Peer,
    asked: Omit<Asked, 'target'>,
    worker: string,
    error: string,
  ): void {
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'call-refused', reason, peer, service: asked.service });
    const { service, uuid } = asked;
    this.tellUnasked(
      peer,
      'response',
      asked,
      { status: 408 },
      encodeNfpJson({ worker, uuid, status: 'FAILED', service, errors: [error] }),
    );
  }

  /** An EVENT of the broker's own: what has become of a job's worker. */
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
    if (!this.#publishes) return;
    this.counters.eventsPublished++;
    this.effects.push({ kind: 'publish', event: { service, worker: nfpRoutingId(name), uuid, status: 200, body } });
  }

  /** A client's call, on its way to workers: all that write commands alike share one. */
  relay(workers: readonly Worker[], command: NfpCall, client: Peer, uuid: string, body: NfpBody): void {
    const header = nfpBrokerHeader(this.dialect, 'worker-call');
    const calls: { [Form in NfpCommandForm]?: NfpFromBroker } = {};
    for (const { form, peer } of workers) {
      this.counters.relays++;
      const call = (calls[form] ??= { kind: 'worker-call', form, header, command, client: client.id, uuid, body });
      this.#send(peer, call);
    }
  }

  keepalive({ peer, form, service }: Worker): void {
    this.counters.keepalivesSent++;
    const header = nfpBrokerHeader(this.dialect, 'broker-keepalive');
    this.#send(peer, { kind: 'broker-keepalive', form, header, service: service.name });
  }

  open(peer: Peer, form: NfpCommandForm, body: NfpBody): void {
    this.#send(peer, { kind: 'broker-open', form, header: nfpBrokerHeader(this.dialect, 'broker-open'), body });
  }

  /** Rule 8: DISCONNECT to a stranger, at most once a second. */
  disconnect(peer: Peer, form: NfpCommandForm, service: string): void {
    if (this.#disconnects.allow(peer.key, this.now)) this.farewell(peer, form, service);
    else this.counters.disconnectsWithheld++;
  }

  /** DISCONNECT to somebody who was registered until now. */
  farewell(peer: Peer, form: NfpCommandForm, service: string): void {
    this.counters.disconnectsSent++;
    const header = nfpBrokerHeader(this.dialect, 'broker-disconnect');
    this.#send(peer, { kind: 'broker-disconnect', form, header, service, body: [] });
  }

  /** A message of this peer was dropped. */
  dropMessage(reason: NfpMessageDrop, peer: Peer): void {
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'message-dropped', reason, peer });
  }

  /** An answer did not get to the client. */
  dropAnswer(reason: NfpAnswerLoss, peer: Peer, service: string): void {
    this.counters.dropped[reason]++;
    this.#note({ kind: 'note', code: 'answer-dropped', reason, peer, service });
  }

  #send(peer: Peer, command: NfpFromBroker): void {
    this.effects.push({ kind: 'send', peer, command });
  }

  #note(note: NfpBrokerNote & { reason: string; peer: Peer }): void {
    if (this.#notes.allow(`${note.reason} ${note.peer.key}`, this.now)) this.effects.push(note);
    else this.counters.notesWithheld++;
  }
}
