import { describe, expect, it } from 'vitest';
import { WorkerEntry, WorkerTable } from './worker-table.js';

function rosterWith(...names: string[]): { roster: WorkerTable<WorkerEntry<string>>; members: WorkerEntry<string>[] } {
  const roster = new WorkerTable<WorkerEntry<string>>({
    heartbeatIntervalMs: 100,
    liveness: 3,
    busyExpiryMs: 1000,
    muteExpiryMs: 5000,
  });
  const members = names.map((name) => new WorkerEntry<string>({ key: name, id: new Uint8Array(1) }, 0));
  for (const member of members) {
    roster.add(member, 0);
    roster.renew(member, 0);
  }
  return { roster, members };
}

function first(members: WorkerEntry<string>[]): WorkerEntry<string> {
  return members[0] as WorkerEntry<string>;
}

describe('Roster', () => {
  it('finds workers by their ids until they are removed, and has nothing due for those that were', () => {
    const { roster, members } = rosterWith('a', 'b');
    const { peer } = first(members);
    expect(roster.find(peer)).toBe(first(members));
    expect(roster.find({ ...peer })).toBe(first(members));
    expect(roster.size).toBe(2);
    for (const member of members) roster.remove(member);
    expect(roster.find(peer)).toBeUndefined();
    expect(roster.deadline).toBe(Infinity);
  });

  it('finds busy workers likewise, whichever was asked first', () => {
    const { roster, members } = rosterWith('a', 'b', 'idle');
    for (const member of members.slice(0, 2)) {
      member.request = 'job';
      roster.renew(member, 0);
    }
    roster.heard(first(members), 99, true);
    const asked = [...members.map(({ peer }) => peer), { key: 'nobody', id: new Uint8Array(1) }];
    const found = (): unknown[] => asked.map((peer) => roster.find(peer));
    expect(found()).toEqual([...members, undefined]);
    roster.remove(first(members));
    expect(found()).toEqual([undefined, ...members.slice(1), undefined]);
  });

  it('has heartbeats due every interval, counted from when the worker came', () => {
    const { roster } = rosterWith('a');
    roster.add(new WorkerEntry<string>({ key: 'b', id: new Uint8Array(1) }, 50), 50);
    expect(roster.takeHeartbeatDue(96)).toBeUndefined();
    expect(roster.takeHeartbeatDue(100)?.peer.key).toBe('a');
    expect(roster.takeHeartbeatDue(100)).toBeUndefined();
    expect(roster.takeHeartbeatDue(200)?.peer.key).toBe('b');
    expect(roster.takeHeartbeatDue(200)?.peer.key).toBe('a');
  });

  it('wakes 32 times per interval at most, whenever its workers came, and lets none wait for longer than an interval', () => {
    const heartbeatIntervalMs = 3200;
    const intervals = 10;
    const roster = new WorkerTable<WorkerEntry<string>>({
      heartbeatIntervalMs,
      liveness: 3,
      busyExpiryMs: 9600,
      muteExpiryMs: 9600,
    });
    const beats = new Map<string, number[]>();
    for (let came = 0; came < heartbeatIntervalMs; came += 3) {
      const key = came.toString();
      roster.add(new WorkerEntry<string>({ key, id: new Uint8Array(1) }, came), came);
      beats.set(key, [came]);
    }
    let wakes = 0;
    for (let now = roster.deadline; now < intervals * heartbeatIntervalMs; now = roster.deadline) {
      wakes++;
      for (let worker = roster.takeHeartbeatDue(now); worker !== undefined; worker = roster.takeHeartbeatDue(now))
        beats.get(worker.peer.key)?.push(now);
    }
    expect(wakes).toBeLessThanOrEqual(32 * (intervals - 1));
    const gaps = [...beats.values()].flatMap((times) => times.slice(1).map((time, index) => time - times[index]!));
    expect(gaps.length).toBeGreaterThanOrEqual(beats.size * (intervals - 1));
    expect(Math.max(...gaps)).toBe(heartbeatIntervalMs);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual((heartbeatIntervalMs * 31) / 32);
  });

  it('lets an idle worker live for interval x liveness, a busy one for busyExpiryMs if it beats at work, or else muteExpiryMs', () => {
    const { roster, members } = rosterWith('idle', 'busy', 'mute');
    const [, busy, mute] = members as [WorkerEntry<string>, WorkerEntry<string>, WorkerEntry<string>];
    for (const member of [busy, mute]) {
      member.request = 'job';
      roster.renew(member, 0);
    }
    roster.heard(busy, 50, true);
    roster.heard(mute, 49, true);
    expect(members.map(({ beatsAtWork }) => beatsAtWork)).toEqual([false, true, false]);
    expect(members.map((member) => roster.expiryMs(member))).toEqual([300, 1000, 5000]);
    expect(roster.takeExpired(299)).toBeUndefined();
    expect(roster.takeExpired(300)?.peer.key).toBe('idle');
    expect(roster.takeExpired(1049)).toBeUndefined();
    expect(roster.takeExpired(1050)).toBe(busy);
    expect(roster.takeExpired(4999)).toBeUndefined();
    expect(roster.takeExpired(5000)).toBe(mute);
  });

  it('gives a worker that was heard its full time again', () => {
    const { roster, members } = rosterWith('a');
    roster.heard(first(members), 100, true);
    expect(first(members).lastSeen).toBe(100);
    expect(roster.takeExpired(399)).toBeUndefined();
    expect(roster.takeExpired(400)).toBe(first(members));
  });

  it('tells once per worker when it was silent for more than half its time', () => {
    const { roster, members } = rosterWith('a', 'b');
    expect(members.map((member) => roster.heard(member, 150, true))).toEqual([undefined, undefined]);
    expect(roster.heard(first(members), 301, true)).toBe(151);
    expect(roster.heard(first(members), 500, true)).toBeUndefined();
    expect(roster.heard(members[1] as WorkerEntry<string>, 420, true)).toBe(270);
  });

  it('lets nobody die, and tells nothing, while our own lateness explains the silence', () => {
    const { roster, members } = rosterWith('a');
    roster.postponeExpiry(200, 300);
    expect(roster.lateUntil).toBe(500);
    expect(roster.takeExpired(499)).toBeUndefined();
    expect(roster.heard(first(members), 499, true)).toBeUndefined();
    expect(first(members).hinted).toBe(false);
  });

  it('never shortens an earlier credit', () => {
    const { roster } = rosterWith('a');
    roster.postponeExpiry(1000, 0);
    roster.postponeExpiry(10, 5);
    expect(roster.lateUntil).toBe(1000);
  });
});
