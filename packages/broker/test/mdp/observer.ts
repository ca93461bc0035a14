/** Watches a Majordomo broker engine from outside and checks everything that a peer could notice. */
import { latin1 } from '@proj/frames';
import type { MdpToBroker } from '@proj/frames/mdp';
import type { TimerEvent } from '@proj/transport';
import type { MdpBrokerEffect, MdpBrokerEvent } from '../../src/mdp/engine/events.js';

interface Seen {
  /** Body of the job it has, if any. */
  job: string | undefined;
  lastHeartbeat: number;
}

/**
 * Every request must have a body of its own, and workers must answer with the body of the request, so that the observer can match replies
 * to requests. Throws at the first thing that no broker may do.
 */
export class Observer {
  readonly #intervalMs: number;
  readonly #workers = new Map<string, Seen>();
  readonly #asked = new Map<string, string>();
  readonly #answered = new Set<string>();
  readonly #started = new Map<string, number>();
  /** Running handlers inside the broker, by number. */
  readonly runs = new Map<number, { readonly service: number; readonly body: string; readonly version: string }>();
  /** Bodies that handlers received: they must not be released. */
  readonly #handled = new Set<Uint8Array>();
  readonly #released = new Set<Uint8Array>();
  readonly #disconnected = new Map<string, number>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** The worker's job. */
  jobOf(worker: string): string | undefined {
    return this.#workers.get(worker)?.job;
  }

  /** Call it with each step's event and effects. */
  observe(event: MdpBrokerEvent | TimerEvent, effects: readonly MdpBrokerEffect[], now: number): void {
    if (event.kind === 'message') this.#hear(event.peer.key, event.command);
    if (event.kind === 'own-final' || event.kind === 'own-failed') this.runs.delete(event.run);
    const ended = effects.some(({ kind }) => kind === 'drained');
    for (const effect of effects) this.#check(effect, now, ended);
  }

  #hear(peer: string, command: MdpToBroker): void {
    if (command.kind === 'client-request') this.#asked.set(bodyOf(command.body), peer);
    const seen = this.#workers.get(peer);
    // This ends the job; if the broker refuses it, the worker is reported lost in the same step.
    if (command.kind === 'worker-final' && seen !== undefined) seen.job = undefined;
  }

  #check(effect: MdpBrokerEffect, now: number, ended: boolean): void {
    switch (effect.kind) {
      case 'worker-ready':
        if (this.#workers.has(effect.peer.key)) throw new Error('registered twice');
        this.#workers.set(effect.peer.key, { job: undefined, lastHeartbeat: now });
        break;
      case 'worker-lost':
        if (!this.#workers.delete(effect.peer.key)) throw new Error('lost, but never registered');
        break;
      case 'send':
        this.#checkSend(effect, now, ended);
        break;
      case 'release':
        for (const frame of effect.body) {
          if (this.#handled.has(frame)) throw new Error('a body was released that a handler has');
          this.#released.add(frame);
        }
        break;
      case 'run':
        this.#checkRun(effect);
        break;
      case 'cancel':
        if (!this.runs.has(effect.run)) throw new Error('no such handler is at work');
        break;
      case 'note':
      case 'drained':
    }
  }

  #checkRun({ run, service, client, version, body }: MdpBrokerEffect & { kind: 'run' }): void {
    const job = bodyOf(body);
    if (body.some((frame) => this.#released.has(frame)))
      throw new Error('a handler gets a body that had been released');
    if (this.#asked.get(job) !== client.key) throw new Error('a request that this client did not make');
    if (this.#answered.has(job)) throw new Error('an answered request was run again');
    this.#started.set(job, (this.#started.get(job) ?? 0) + 1);
    for (const frame of body) this.#handled.add(frame);
    this.runs.set(run, { service, body: job, version });
  }

  #checkSend({ peer, command }: MdpBrokerEffect & { kind: 'send' }, now: number, ended: boolean): void {
    const worker = this.#workers.get(peer.key);
    if ('body' in command && command.body.some((frame) => this.#released.has(frame)))
      throw new Error('a body was sent that had been released');
    switch (command.kind) {
      case 'worker-request': {
        if (worker === undefined) throw new Error('a job for a peer that is not registered');
        if (worker.job !== undefined) throw new Error('two jobs for one worker (rule 21)');
        worker.job = bodyOf(command.body);
        const client = latin1(command.client);
        if (this.#asked.get(worker.job) !== client) throw new Error('a request that this client did not make');
        if (this.#answered.has(worker.job)) throw new Error('an answered request was sent again');
        this.#started.set(worker.job, (this.#started.get(worker.job) ?? 0) + 1);
        break;
      }
      case 'heartbeat':
        if (worker === undefined) throw new Error('a heartbeat for a peer that is not registered');
        if (now - worker.lastHeartbeat < (this.#intervalMs * 31) / 32)
          throw new Error('two heartbeats in an interval (rule 11)');
        worker.lastHeartbeat = now;
        break;
      case 'disconnect': {
        const last = this.#disconnected.get(peer.key) ?? -Infinity;
        if (!ended && now - last < this.#intervalMs) throw new Error('two DISCONNECTs in an interval (rule 8)');
        this.#disconnected.set(peer.key, now);
        break;
      }
      case 'client-partial':
      case 'client-final':
        this.#checkReply(peer.key, command);
    }
  }

  #checkReply(peer: string, command: { kind: string; service: string; body: readonly Uint8Array[] }): void {
    if (command.service.startsWith('mmi.')) return;
    const body = bodyOf(command.body);
    if (this.#asked.get(body) !== peer) throw new Error('a reply for another client');
    if (!this.#started.has(body)) throw new Error('a reply to a request that was never started');
    if (this.#answered.has(body)) throw new Error('something after FINAL (rule 22)');
    if (command.kind === 'client-final') this.#answered.add(body);
  }
}

/** The first frame, which is the same in every part that bridging joins. */
function bodyOf(body: readonly Uint8Array[]): string {
  return latin1(body[0] as Uint8Array);
}
