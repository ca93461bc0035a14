/** NFP client: what the engine knows of each open job and question. No decisions; those are in session.ts. */
import { totalBytes } from '@proj/frames';
import { HeapDeadline, Deadline } from '@proj/heartbeat';
import type { NfpJobOrder, NfpQuestion, NfpReply } from './events.js';

/** How far one worker is with a job. */
export interface WorkerProgress {
  /** It has said that it knows the job. */
  accepted: boolean;
  /** `refused`: it has not taken it, and is to be offered it again. `missing`: it does not know it. */
  said: 'refused' | 'missing' | undefined;
  /** It was too busy to take it once. */
  busy: boolean;
  /** The last input it asked for. */
  input: string | undefined;
  /** Times the job was offered to it again because it had never come. */
  offers: number;
}

/**
 * Where a job stands: to be posted, or posted and not answered (`posting`), waiting at the broker for a worker (`queued`), asked about
 * because it may be known (`probing`), in the hands of workers (`running`).
 */
export type NfpJobPhase = 'posting' | 'queued' | 'probing' | 'running';

/** A job without outcome. */
export class JobRequest<Ticket> {
  readonly kind = 'job';
  readonly order: NfpJobOrder<Ticket>;
  readonly bytes: number;
  readonly end: HeapDeadline<JobRequest<Ticket> | Question<Ticket>> = new HeapDeadline(this);
  readonly poll = new Deadline<JobRequest<Ticket>>(this);
  phase: NfpJobPhase;
  /** Workers whose last word is awaited, by name. Empty while unknown. */
  readonly members = new Map<string, WorkerProgress>();
  /** It was given to the transport at least once. */
  sent = false;
  /** A worker has said that it knows the job. */
  known = false;
  /** Whose last word an earlier process has had: it may come again, and counts for nothing. */
  readonly told: ReadonlySet<string>;
  /** Whose last word has come: whatever they say after it counts for nothing. */
  readonly done = new Set<string>();
  /** Workers were learnt by asking everybody: those who do not know the job were never meant. */
  learnt = false;
  /** How many of them do not know it. */
  missing = 0;
  /** A GET is without any answer. */
  asking = false;
  /** Something came that is no answer about it. */
  unexpected = false;
  reposts = 0;
  /** Times it was posted again, to whomever. */
  repeats = 0;
  /** Until then 404 may answer what was asked before it was posted again, at a broker or worker that is slow. */
  doubtUntil = -Infinity;
  /** It is for any worker, its worker was too busy for it, and the broker has not said yet who gets it instead. */
  offered = false;

  constructor(order: NfpJobOrder<Ticket>) {
    this.order = order;
    this.bytes = totalBytes(order.body) + totalBytes(order.question);
    this.phase = order.resumed ? 'probing' : 'posting';
    this.sent = order.resumed;
    this.told = new Set(order.told);
    for (const name of order.workers) this.add(name);
  }

  /** Makes the worker one whose last word is awaited. */
  add(name: string): WorkerProgress {
    const known = this.members.get(name);
    if (known !== undefined) return known;
    const member: WorkerProgress = { accepted: false, said: undefined, busy: false, input: undefined, offers: 0 };
    this.members.set(name, member);
    return member;
  }

  /** Takes down what a member said last. */
  note(member: WorkerProgress, said: WorkerProgress['said']): void {
    if (member.said === 'missing') this.missing--;
    if (said === 'missing') this.missing++;
    member.said = said;
  }

  /** Awaits nothing more from this worker. */
  remove(name: string): void {
    const member = this.members.get(name);
    if (member === undefined) return;
    this.note(member, undefined);
    this.members.delete(name);
  }

  /** Knows of no worker any more. */
  clear(): void {
    this.members.clear();
    this.missing = 0;
    this.learnt = false;
  }

  /** The one whose last word is awaited, if it is one. */
  get onlyMember(): string | undefined {
    return this.members.size === 1 ? this.members.keys().next().value : undefined;
  }
}

/** A question without outcome. */
export class Question<Ticket> {
  readonly kind = 'question';
  readonly order: NfpQuestion<Ticket>;
  readonly bytes: number;
  readonly end: HeapDeadline<JobRequest<Ticket> | Question<Ticket>> = new HeapDeadline(this);
  sent = false;
  /** Workers that are to answer and have not; `undefined` while nobody has said who. */
  awaited: Set<string> | undefined;
  /** Answers that are still to come. */
  missing = 0;
  readonly replies: NfpReply[] = [];

  constructor(order: NfpQuestion<Ticket>) {
    this.order = order;
    this.bytes = totalBytes(order.call.body);
  }
}

/** Workers a GET may name: beyond that it goes to all, and those who are not meant are ignored. */
const NAMES_MAX = 1000;
/** Bytes a target may have, with room to spare. */
const TARGET_MAX_CHARS = 16_000;

/** The target that means these workers. */
export function targetOf(names: readonly string[]): string {
  if (names.length > NAMES_MAX) return 'all';
  const target = JSON.stringify(names);
  return target.length > TARGET_MAX_CHARS ? 'all' : target;
}
