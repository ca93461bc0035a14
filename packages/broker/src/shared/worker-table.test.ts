import { describe, expect, it } from 'vitest';
import { WorkerEntry, WorkerTable } from './worker-table.js';

function tableWith(...names: string[]): { table: WorkerTable<WorkerEntry<string>>; workers: WorkerEntry<string>[] } {
  const table = new WorkerTable<WorkerEntry<string>>({
    heartbeatIntervalMs: 100,
    liveness: 3,
    busyExpiryMs: 1000,
    muteExpiryMs: 5000,
  });
  const workers = names.map((name) => new WorkerEntry<string>({ key: name, id: new Uint8Array(1) }, 0));
  for (const worker of workers) {
    table.add(worker, 0);
    table.renew(worker, 0);
  }
  return { table, workers };
}

function first(workers: WorkerEntry<string>[]): WorkerEntry<string> {
  return workers[0] as WorkerEntry<string>;
}

describe('WorkerTable', () => {
  it('finds workers by their ids until they are removed, and then has nothing due for them', () => {
    const { table, workers } = tableWith('a', 'b');
    const { peer } = first(workers);
    expect(table.find(peer)).toBe(first(workers));
    expect(table.find({ ...peer })).toBe(first(workers));
    expect(table.size).toBe(2);
    for (const worker of workers) table.remove(worker);
    expect(table.find(peer)).toBeUndefined();
    expect(table.deadline).toBe(Infinity);
  });

  it('finds busy workers too, whichever got its request first', () => {
    const { table, workers } = tableWith('a', 'b', 'idle');
    for (const worker of workers.slice(0, 2)) {
      worker.request = 'job';
      table.renew(worker, 0);
    }
    table.heard(first(workers), 99, true);
    const asked = [...workers.map(({ peer }) => peer), { key: 'nobody', id: new Uint8Array(1) }];
    const found = (): unknown[] => asked.map((peer) => table.find(peer));
    expect(found()).toEqual([...workers, undefined]);
    table.remove(first(workers));
    expect(found()).toEqual([undefined, ...workers.slice(1), undefined]);
  });

  it('has heartbeats due every interval from when the worker registered', () => {
    const { table } = tableWith('a');
    table.add(new WorkerEntry<string>({ key: 'b', id: new Uint8Array(1) }, 50), 50);
    expect(table.takeHeartbeatDue(96)).toBeUndefined();
    expect(table.takeHeartbeatDue(100)?.peer.key).toBe('a');
    expect(table.takeHeartbeatDue(100)).toBeUndefined();
    expect(table.takeHeartbeatDue(200)?.peer.key).toBe('b');
    expect(table.takeHeartbeatDue(200)?.peer.key).toBe('a');
  });

  it('wakes at most 32 times per interval, whenever its workers registered, and no worker waits longer than an interval', () => {
    const heartbeatIntervalMs = 3200;
    const intervals = 10;
    const table = new WorkerTable<WorkerEntry<string>>({
      heartbeatIntervalMs,
      liveness: 3,
      busyExpiryMs: 9600,
      muteExpiryMs: 9600,
    });
    const beats = new Map<string, number[]>();
    for (let came = 0; came < heartbeatIntervalMs; came += 3) {
      const key = came.toString();
      table.add(new WorkerEntry<string>({ key, id: new Uint8Array(1) }, came), came);
      beats.set(key, [came]);
    }
    let wakes = 0;
    for (let now = table.deadline; now < intervals * heartbeatIntervalMs; now = table.deadline) {
      wakes++;
      for (let worker = table.takeHeartbeatDue(now); worker !== undefined; worker = table.takeHeartbeatDue(now))
        beats.get(worker.peer.key)?.push(now);
    }
    expect(wakes).toBeLessThanOrEqual(32 * (intervals - 1));
    const gaps = [...beats.values()].flatMap((times) => times.slice(1).map((time, index) => time - times[index]!));
    expect(gaps.length).toBeGreaterThanOrEqual(beats.size * (intervals - 1));
    expect(Math.max(...gaps)).toBe(heartbeatIntervalMs);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual((heartbeatIntervalMs * 31) / 32);
  });

  it('an idle worker lives for interval x liveness, a busy one for busyExpiryMs if it sends heartbeats while working, otherwise for muteExpiryMs', () => {
    const { table, workers } = tableWith('idle', 'busy', 'mute');
    const [, busy, mute] = workers as [WorkerEntry<string>, WorkerEntry<string>, WorkerEntry<string>];
    for (const worker of [busy, mute]) {
      worker.request = 'job';
      table.renew(worker, 0);
    }
    table.heard(busy, 50, true);
    table.heard(mute, 49, true);
    expect(workers.map(({ beatsAtWork }) => beatsAtWork)).toEqual([false, true, false]);
    expect(workers.map((worker) => table.expiryMs(worker))).toEqual([300, 1000, 5000]);
    expect(table.takeExpired(299)).toBeUndefined();
    expect(table.takeExpired(300)?.peer.key).toBe('idle');
    expect(table.takeExpired(1049)).toBeUndefined();
    expect(table.takeExpired(1050)).toBe(busy);
    expect(table.takeExpired(4999)).toBeUndefined();
    expect(table.takeExpired(5000)).toBe(mute);
  });

  it('a message gives a worker its full time again', () => {
    const { table, workers } = tableWith('a');
    table.heard(first(workers), 100, true);
    expect(first(workers).lastSeen).toBe(100);
    expect(table.takeExpired(399)).toBeUndefined();
    expect(table.takeExpired(400)).toBe(first(workers));
  });

  it('reports once per worker that it was silent for more than half its time', () => {
    const { table, workers } = tableWith('a', 'b');
    expect(workers.map((worker) => table.heard(worker, 150, true))).toEqual([undefined, undefined]);
    expect(table.heard(first(workers), 301, true)).toBe(151);
    expect(table.heard(first(workers), 500, true)).toBeUndefined();
    expect(table.heard(workers[1] as WorkerEntry<string>, 420, true)).toBe(270);
  });

  it('lets no worker expire and reports nothing while our own lateness explains the silence', () => {
    const { table, workers } = tableWith('a');
    table.postponeExpiry(200, 300);
    expect(table.lateUntil).toBe(500);
    expect(table.takeExpired(499)).toBeUndefined();
    expect(table.heard(first(workers), 499, true)).toBeUndefined();
    expect(first(workers).hinted).toBe(false);
  });

  it('never shortens an earlier extension', () => {
    const { table } = tableWith('a');
    table.postponeExpiry(1000, 0);
    table.postponeExpiry(10, 5);
    expect(table.lateUntil).toBe(1000);
  });
});
