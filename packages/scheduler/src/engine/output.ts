/** EventMQ scheduler: effects, totals and notes of the engine. */
import { StepOutput } from '@proj/transport/engine';
import type {
  EmqpFromScheduler,
  EmqpSchedulerStats,
  ScheduleRefusal,
  SchedulerDropReason,
  SchedulerEffect,
  SchedulerLoss,
  SchedulerNote,
} from './events.js';

const ZERO = {
  fired: 0,
  skipped: 0,
  scheduled: 0,
  replaced: 0,
  unscheduled: 0,
  unknown: 0,
  finished: 0,
  accepted: 0,
  results: 0,
  conversations: 0,
};

type Counted = keyof typeof ZERO;

interface Counters extends Record<Counted, number> {
  readonly refused: Partial<Record<ScheduleRefusal, number>>;
  readonly lost: Partial<Record<SchedulerLoss, number>>;
  readonly dropped: Partial<Record<SchedulerDropReason, number>>;
  notesWithheld: number;
}

/** Collects the effects of every part of the engine. */
export class Output extends StepOutput<SchedulerEffect> {
  override readonly counters: Counters = { ...ZERO, refused: {}, lost: {}, dropped: {}, notesWithheld: 0 };

  /** A copy of the totals. */
  get totals(): Pick<EmqpSchedulerStats, Counted | 'refused' | 'lost' | 'dropped'> {
    const { notesWithheld: _notesWithheld, refused, lost, dropped, ...totals } = this.counters;
    return { ...totals, refused: { ...refused }, lost: { ...lost }, dropped: { ...dropped } };
  }

  tell(note: SchedulerNote): void {
    this.effects.push({ kind: 'note', note });
  }

  send(socket: number, command: EmqpFromScheduler): void {
    this.effects.push({ kind: 'send', socket, command });
  }

  /** A SCHEDULE is rejected. */
  refuse(reason: ScheduleRefusal, queue: string): void {
    const { refused } = this.counters;
    refused[reason] = (refused[reason] ?? 0) + 1;
    this.tell({ code: 'schedule-refused', reason, queue });
  }

  /** A message was not understood. */
  drop(reason: SchedulerDropReason): void {
    const { dropped } = this.counters;
    dropped[reason] = (dropped[reason] ?? 0) + 1;
    this.tell({ code: 'message-dropped', reason });
  }

  /** A conversation ended; the next one begins in `retryInMs`. */
  lose(reason: SchedulerLoss, endpoint: string, retryInMs: number): void {
    const { lost } = this.counters;
    lost[reason] = (lost[reason] ?? 0) + 1;
    this.tell({ code: 'lost', endpoint, reason, retryInMs });
  }
}
