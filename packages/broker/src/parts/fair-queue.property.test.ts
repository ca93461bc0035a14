import fc from 'fast-check';
import { it } from 'vitest';
import { FairQueue } from './fair-queue.js';
import { Link } from './linked-list.js';

interface Entry {
  readonly client: string;
  readonly number: number;
}

/** The same queue, written to be obviously right: arrays, searched. */
class Model {
  front: Entry[] = [];
  lanes: { client: string; entries: Entry[] }[] = [];

  get size(): number {
    return this.front.length + this.lanes.reduce((sum, lane) => sum + lane.entries.length, 0);
  }

  push(entry: Entry): void {
    const lane = this.lanes.find(({ client }) => client === entry.client);
    if (lane === undefined) this.lanes.push({ client: entry.client, entries: [entry] });
    else lane.entries.push(entry);
  }

  shift(): Entry | undefined {
    if (this.front.length > 0) return this.front.shift();
    const lane = this.lanes.shift();
    const entry = lane?.entries.shift();
    if (lane !== undefined && lane.entries.length > 0) this.lanes.push(lane);
    return entry;
  }

  remove(entry: Entry): void {
    this.front = this.front.filter((other) => other !== entry);
    for (const lane of this.lanes) lane.entries = lane.entries.filter((other) => other !== entry);
    this.lanes = this.lanes.filter(({ entries }) => entries.length > 0);
  }
}

const action = fc.oneof(
  fc.record({ kind: fc.constant('push' as const), client: fc.constantFrom('x', 'y', 'z') }),
  fc.record({ kind: fc.constantFrom('shift' as const, 'return-last' as const) }),
  fc.record({ kind: fc.constant('remove' as const), index: fc.nat(20) }),
);

it('behaves as a queue per client, served in turn, behind a front', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120 }), fc.integer({ min: 1, max: 12 }), (actions, max) => {
      const queue = new FairQueue<Entry>(max);
      const model = new Model();
      const places: Link<Entry>[] = [];
      let last: Link<Entry> | undefined;
      for (const step of actions) {
        if (step.kind === 'push') {
          const place = new Link<Entry>({ client: step.client, number: places.length });
          places.push(place);
          const room = model.size < max;
          if (queue.push(place, step.client) !== room) throw new Error('bound not kept');
          if (room) model.push(place.value);
        } else if (step.kind === 'shift') {
          const value = queue.shift();
          if (value !== model.shift()) throw new Error('order differs');
          last = value === undefined ? undefined : places[value.number];
        } else if (step.kind === 'return-last' && last !== undefined) {
          queue.pushFront(last);
          model.front.push(last.value);
          last = undefined;
        } else if (step.kind === 'remove') {
          const place = places[step.index];
          if (place === undefined) continue;
          queue.remove(place);
          model.remove(place.value);
        }
        if (queue.size !== model.size) throw new Error('size differs');
        if (queue.clients !== model.lanes.length) throw new Error('lanes differ');
      }
    }),
    { numRuns: 500 },
  );
});
