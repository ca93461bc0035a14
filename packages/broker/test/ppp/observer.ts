/** Watches a Paranoid Pirate engine from outside and checks everything that a peer could notice. */
import { latin1 } from '@proj/frames';
import type { PppAddresses, PppContent, PppHeartbeat, PppRequest } from '@proj/frames/ppp';
import type { Access, AccessRight, Peer, TimerEvent } from '@proj/transport';
import type { PppPoolEffect, PppPoolEvent, PppQueueEffect, PppQueueEvent } from '../../src/ppp/engine/events.js';

type Effect = PppQueueEffect | PppPoolEffect;
type Event = PppQueueEvent | PppPoolEvent | TimerEvent;

/** A worker's job. */
export interface Job {
  readonly addresses: PppAddresses;
  readonly body: string;
}

interface Seen {
  readonly peer: Peer;
  job: Job | undefined;
  lastHeartbeat: number;
}

/**
 * Every request must have a body of its own, and workers must answer with the body of the request, so that the observer can match replies
 * to requests. Throws at the first thing that no queue or pool may do.
 */
export class Observer {
  readonly #intervalMs: number;
  readonly #maxAttempts: number;
  readonly #workers = new Map<string, Seen>();
  /** Idle workers, the one idle longest first. */
  readonly #idle: string[] = [];
  /** Who asked, by body: a client, or a call of the process. */
  readonly #asked = new Map<string, string>();
  readonly #settled = new Set<string>();
  readonly #started = new Map<string, number>();
  #access: Access | undefined;

  constructor(options: { readonly heartbeatIntervalMs: number; readonly maxAttempts: number }) {
    this.#intervalMs = options.heartbeatIntervalMs;
    this.#maxAttempts = options.maxAttempts;
  }

  /** The worker's job. */
  jobOf(worker: string): Job | undefined {
    return this.#workers.get(worker)?.job;
  }

  /** Call it with each step's event and effects. */
  observe(event: Event, effects: readonly Effect[], now: number): void {
    this.#hear(event);
    for (const effect of effects) this.#check(effect, now);
  }

  #hear(event: Event): void {
    if (event.kind === 'access') this.#access = event.access;
    if (event.kind === 'request') this.#asked.set(bodyOf(event.content), `call ${event.id}`);
    if (event.kind === 'undeliverable' && event.socket === 'backend' && event.command.kind === 'request') {
      const body = bodyOf(event.command.content);
      this.#started.set(body, (this.#started.get(body) ?? 1) - 1);
    }
    if (event.kind !== 'message' || !this.#may(event.peer, event.socket === 'frontend' ? 'request' : 'serve')) return;
    if (event.command.kind === 'client-request') this.#asked.set(bodyOf(event.command.content), event.peer.key);
    const seen = this.#workers.get(event.peer.key);
    if (event.socket !== 'backend' || event.command.kind !== 'reply' || seen?.job === undefined) return;
    // Rule 9: the reply counts if its address is that of the job.
    if (latin1(event.command.addresses[0] as Uint8Array) !== latin1(seen.job.addresses[0] as Uint8Array)) return;
    seen.job = undefined;
    this.#idle.push(event.peer.key);
  }

  #may(peer: Peer, right: AccessRight): boolean {
    return this.#access?.allows(peer, right, 'ppp') ?? true;
  }

  #check(effect: Effect, now: number): void {
    switch (effect.kind) {
      case 'worker-ready':
        if (this.#workers.has(effect.peer.key)) throw new Error('registered twice');
        this.#workers.set(effect.peer.key, { peer: effect.peer, job: undefined, lastHeartbeat: now });
        this.#idle.push(effect.peer.key);
        break;
      case 'worker-lost':
        if (!this.#workers.delete(effect.peer.key)) throw new Error('lost, but never registered');
        this.#wake(effect.peer.key);
        break;
      case 'send':
        if (effect.socket === 'backend') this.#checkWork(effect.peer.key, effect.command, now);
        else this.#settle(bodyOf(effect.command.content), effect.peer.key);
        break;
      case 'answer':
        this.#settle(bodyOf(effect.content), `call ${effect.id}`);
        break;
      case 'fail':
      case 'note':
      case 'drained':
    }
  }

  #checkWork(peer: string, command: PppRequest | PppHeartbeat, now: number): void {
    const worker = this.#workers.get(peer);
    if (worker === undefined) throw new Error(`${command.kind} for a peer that is not registered (rule 2)`);
    if (!this.#may(worker.peer, 'serve')) throw new Error(`${command.kind} for a peer that may not serve (rule 20)`);
    if (command.kind === 'heartbeat') {
      if (now - worker.lastHeartbeat < (this.#intervalMs * 31) / 32)
        throw new Error('two heartbeats in an interval (rule 7)');
      worker.lastHeartbeat = now;
      return;
    }
    const job = { addresses: command.addresses ?? [], body: bodyOf(command.content) };
    if (worker.job !== undefined) throw new Error('two jobs for one worker (rule 8)');
    if (this.#idle[0] !== peer) throw new Error('not the one that has been idle longest (rule 8)');
    if (!this.#asked.has(job.body)) throw new Error('a request that no client made');
    if (this.#settled.has(job.body)) throw new Error('an answered request was sent again');
    const attempts = (this.#started.get(job.body) ?? 0) + 1;
    if (attempts > this.#maxAttempts) throw new Error('too many attempts (rule 13)');
    this.#started.set(job.body, attempts);
    this.#wake(peer);
    worker.job = job;
  }

  #settle(body: string, to: string): void {
    if (this.#asked.get(body) !== to) throw new Error('a reply for another client');
    if (!this.#started.has(body)) throw new Error('a reply to a request that was never started');
    if (this.#settled.has(body)) throw new Error('two replies to one request');
    this.#settled.add(body);
  }

  #wake(peer: string): void {
    const place = this.#idle.indexOf(peer);
    if (place >= 0) this.#idle.splice(place, 1);
  }
}

function bodyOf(content: PppContent): string {
  return latin1(content[0] as Uint8Array);
}
