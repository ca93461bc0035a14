/** What `proj top` shares with the page: the changing model, search, sort, and figures as text. Pure. */
export { ago, bytes, clockTime, count, duration, percent, rate, short, wholeSeconds } from './format.js';
export { applyDelta, serverNow } from './merge.js';
export type {
  Action,
  ActionResult,
  DeadLetterRow,
  Delta,
  Model,
  ScheduleRow,
  ServiceRow,
  WorkerRow,
} from '@proj/observe/model';
export { failures } from '@proj/observe/model';
export { searchRows, sortRows } from './rows.js';
export type { SortValue } from './rows.js';
export { EventParser } from './sse.js';
