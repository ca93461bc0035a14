/** Applies a delta to the model. Unchanged tables stay the same objects, so that views know what to redraw. */
import { latestNotes } from '@proj/observe/model';
import type { Delta, Model } from '@proj/observe/model';

const POINTS_MAX = 900;

/** Rows of one table, by key. */
export type Rows<Row> = Readonly<Record<string, Row>>;

/** The rows after a change; `null` removes a row. */
export function mergeRows<Row>(rows: Rows<Row>, changed: Readonly<Record<string, Row | null | undefined>>): Rows<Row> {
  const keys = Object.keys(changed);
  if (keys.length === 0) return rows;
  const merged: Record<string, Row> = { ...rows };
  for (const key of keys) {
    const row = changed[key];
    // Rows rarely come and go; most changes replace them.
    if (row === null || row === undefined) Reflect.deleteProperty(merged, key);
    else merged[key] = row;
  }
  return merged;
}

/** The model one second later. */
export function applyDelta(model: Model, delta: Delta): Model {
  const schedules = delta.schedules === undefined ? model.schedules : mergeRows(model.schedules ?? {}, delta.schedules);
  return {
    process: delta.process ?? model.process,
    servers: mergeRows(model.servers, delta.servers ?? {}),
    services: mergeRows(model.services, delta.services ?? {}),
    workers: mergeRows(model.workers, delta.workers ?? {}),
    clients: mergeRows(model.clients, delta.clients ?? {}),
    deadLetters: mergeRows(model.deadLetters, delta.deadLetters ?? {}),
    faults: mergeRows(model.faults, delta.faults ?? {}),
    ...(schedules === undefined ? {} : { schedules }),
    notes: latestNotes(model.notes, delta.notes ?? []),
    history: [...model.history, delta.point].slice(-POINTS_MAX),
  };
}

/** The server's clock in milliseconds. Ages use it, because the viewer's clock may be wrong. */
export function serverNow(model: Model): number {
  return (model.history.at(-1)?.at ?? 0) * 1000;
}
