import fc from 'fast-check';
import { it } from 'vitest';
import { FairQueue, type ClientQueue } from './fair-queue.js';
import { RemovableQueue, QueueSlot } from './removable-queue.js';

interface Entry {
  readonly client: string;
  readonly number: number;
}

interface Lane {
  readonly client: string;
  entries: Entry[];
  /** `undefined` once it has retired. */
  readonly many: boolean | undefined;
}

/** The same queue, written to be obviously correct: arrays that are searched. */
class Model {
  front: Entry[] = [];
  /** Values of the front whose client has retired. */
  retired: Entry[] = [];
  /** In the order of their turns. */
  lanes: Lane[] = [];
  #contended = 0;

  get size(): number {
    return this.front.length + this.retired.length + this.lanes.reduce((sum, lane) => sum + lane.entries.length, 0);
  }

  push(entry: Entry): void {
    const lane = this.lanes.find(({ client }) => client === entry.client);
    if (lane === undefined) this.lanes.push({ client: entry.client, entries: [entry], many: false });
    else {
      lane.entries.push(entry);
      if (lane.entries.length === 5) this.#await(lane);
    }
  }

  #await(lane: Lane): void {
    this.lanes = this.lanes.filter((other) => other !== lane);
    this.lanes.push({ ...lane, many: lane.entries.length > 4 });
  }

  shift(): Entry | undefined {
    if (this.front.length > 0) return this.front.shift();
    const [few, many] = [false, true].map((kind) => this.lanes.find((lane) => lane.many === kind));
    const lane = few !== undefined && many !== undefined && this.#contended++ % 4 > 0 ? few : (many ?? few);
    if (lane === undefined) return undefined;
    const entry = lane.entries.shift();
    if (lane.entries.length > 0) this.#await(lane);
    else this.lanes = this.lanes.filter((other) => other !== lane);
    return entry;
  }

  of(client: string): Entry[] {
    const all = [...this.front, ...this.retired, ...this.lanes.flatMap(({ entries }) => entries)];
    return all.filter((entry) => entry.client === client);
  }

  retire(client: string): void {
    this.retired.push(...this.front.filter((entry) => entry.client === client));
    this.front = this.front.filter((entry) => entry.client !== client);
    this.lanes = this.lanes.map((lane) => (lane.client === client ? { ...lane, many: undefined } : lane));
  }

  remove(entry: Entry): void {
    this.front = this.front.filter((other) => other !== entry);
    this.retired = this.retired.filter((other) => other !== entry);
    for (const lane of this.lanes) lane.entries = lane.entries.filter((other) => other !== entry);
    this.lanes = this.lanes.filter(({ entries }) => entries.length > 0);
  }
}

const CLIENTS = ['x', 'y', 'z'];

const action = fc.oneof(
  fc.record({ kind: fc.constant('push' as const), client: fc.constantFrom('x', ...CLIENTS) }),
  fc.record({ kind: fc.constantFrom('shift' as const, 'return-last' as const) }),
  fc.record({ kind: fc.constant('remove' as const), index: fc.nat(20) }),
  fc.record({ kind: fc.constant('retire-z' as const) }),
);

it('behaves like a queue per client, served in turn, behind a front', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120 }), fc.integer({ min: 1, max: 24 }), (actions, max) => {
      const queue = new FairQueue<Entry>(max);
      const model = new Model();
      const owned = new Map(CLIENTS.map((client) => [client, new RemovableQueue<ClientQueue<Entry>>()]));
      const places: QueueSlot<Entry>[] = [];
      let last: QueueSlot<Entry> | undefined;
      let isRetired = false;
      for (const step of actions) {
        if (step.kind === 'push') {
          if (isRetired && step.client === 'z') continue;
          const place = new QueueSlot<Entry>({ client: step.client, number: places.length });
          places.push(place);
          const room = model.size < max;
          if (queue.push(place, step.client, owned.get(step.client)) !== room) throw new Error('bound not kept');
          if (room) model.push(place.value);
        } else if (step.kind === 'shift') {
          const value = queue.shift();
          if (value !== model.shift()) throw new Error('order differs');
          last = value === undefined ? undefined : places[value.number];
        } else if (step.kind === 'return-last' && last !== undefined) {
          if (isRetired && last.value.client === 'z') continue;
          queue.pushFront(last, owned.get(last.value.client));
          model.front.push(last.value);
          last = undefined;
        } else if (step.kind === 'remove') {
          const place = places[step.index];
          if (place === undefined) continue;
          queue.remove(place);
          model.remove(place.value);
        } else if (step.kind === 'retire-z') {
          for (const lane of owned.get('z')?.values() ?? []) queue.retire(lane);
          model.retire('z');
          isRetired = true;
        }
        if (queue.size !== model.size) throw new Error('size differs');
        if (queue.clients !== model.lanes.length) throw new Error('lanes differ');
        for (const [client, lanes] of owned) {
          const found = new Set([...lanes.values()].flatMap((lane) => [...lane.values()]));
          const expected = model.of(client);
          if (found.size !== expected.length || !expected.every((entry) => found.has(entry)))
            throw new Error('a client does not find what it has waiting');
        }
      }
    }),
    { numRuns: 500 },
  );
});
