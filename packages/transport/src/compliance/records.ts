/** The contract of every `RecordStore`. */
import type { RecordStore } from '../records.js';
import { bytesOf, check, equal, numbered, textOf } from './rig.js';
import { bindCases } from './suite.js';
import type { Cases, ComplianceCase } from './suite.js';

/** What the suite needs from an implementation. */
export interface RecordsSubject {
  /** An unused place for records, such as a new folder. */
  place(): Promise<RecordsPlace>;
  readonly capabilities: RecordsCapabilities;
}

/** Features that not every implementation has. */
export interface RecordsCapabilities {
  /** Committed records are visible to another store at the same place. */
  readonly durable: boolean;
  /** Only one process may have the store open. */
  readonly exclusive: boolean;
  /** {@link RecordsPlace.breakWrites} exists. */
  readonly breakable: boolean;
  /** {@link RecordsPlace.killWriter} is there. */
  readonly killable: boolean;
}

/** Where a store keeps its records. */
export interface RecordsPlace {
  /** A store of this place, not open yet. */
  store(): RecordStore;
  /** Makes writes fail from now on, as on a full disk; the returned function ends that. */
  breakWrites?(): Promise<() => Promise<void>>;
  /**
   * Runs {@link writeRecordsUntilKilled} on a store of this place in another process, kills it with SIGKILL in the middle, and resolves to what
   * it had reported until then.
   */
  killWriter?(): Promise<readonly string[]>;
  /** Everything is closed: the place is no longer needed. */
  remove(): Promise<void>;
}

const MIB = 2 ** 20;

/** The stores of one case. */
class Rig {
  readonly subject: RecordsSubject;
  readonly #stores: RecordStore[] = [];
  readonly #places: RecordsPlace[] = [];

  constructor(subject: RecordsSubject) {
    this.subject = subject;
  }

  async place(): Promise<RecordsPlace> {
    const place = await this.subject.place();
    this.#places.push(place);
    return place;
  }

  /** A store that is not open yet. */
  async bare(place?: RecordsPlace): Promise<RecordStore> {
    const store = (place ?? (await this.place())).store();
    this.#stores.push(store);
    return store;
  }

  async open(place?: RecordsPlace): Promise<RecordStore> {
    const store = await this.bare(place);
    await store.open();
    return store;
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    await Promise.all(this.#places.map((place) => place.remove()));
  }
}

/** Records out of `key=value` texts. */
function records(...texts: string[]): (readonly [string, Uint8Array])[] {
  return texts.map((text) => {
    const [key = '', value = ''] = text.split('=');
    return [key, bytesOf(value)];
  });
}

/** All records with the prefix as `key=value`; long values by their length. */
async function contents(store: RecordStore, prefix?: string): Promise<string[]> {
  const found: string[] = [];
  for await (const [key, value] of store.entries(prefix))
    found.push(`${key}=${value.length > 100 ? value.length : textOf([value])}`);
  return found;
}

async function rejects(promise: Promise<unknown>, code: string): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason as Error & { readonly code?: unknown },
  );
  check(error !== undefined, `nothing was thrown instead of ${code}`);
  equal([error.name, error.code], ['ProjError', code], `error "${error.message}"`);
  return error.message;
}

const CASES: Cases<Rig> = {
  async 'writes, replaces, reads and removes'(rig) {
    const store = await rig.open();
    await store.commit({ puts: records('a=1', 'b=2', 'empty=') });
    await store.commit({ puts: records('a=3'), removes: ['b', 'not there'] });
    equal(await contents(store), ['a=3', 'empty='], 'contents');
    equal((await store.get('empty'))?.length, 0, 'length of an empty value');
    check((await store.get('b')) === undefined, 'b is still there');
  },
  async 'puts a key that a batch removes as well, and of two values keeps the last'(rig) {
    const store = await rig.open();
    await store.commit({ puts: records('a=0') });
    await store.commit({ puts: records('a=1', 'a=2'), removes: ['a'] });
    equal(await contents(store), ['a=2'], 'contents');
  },
  async 'lists records in the order of their UTF-8 bytes, whatever order they came in'(rig) {
    const store = await rig.open();
    const keys = ['\u{1F600}', '\uFFFD', 'é', 'z', 'a!', 'a', 'a\u0000', '\u0000', 'ab', '~'];
    await store.commit({ puts: keys.map((key) => [key, bytesOf('x')]) });
    const expected = ['\u0000', 'a', 'a\u0000', 'a!', 'ab', 'z', '~', 'é', '\uFFFD', '\u{1F600}'];
    equal(
      await contents(store),
      expected.map((key) => `${key}=x`),
      'order',
    );
  },
  async 'lists the records of a prefix only'(rig) {
    const store = await rig.open();
    await store.commit({ puts: records('job/=0', 'job/1=1', 'job/2=2', 'job=x', 'job0=y', 'k=z', 'a=a') });
    equal(await contents(store, 'job/'), ['job/=0', 'job/1=1', 'job/2=2'], 'job/');
    equal(await contents(store, 'none'), [], 'none');
    equal(await contents(store, 'x'.repeat(600)), [], 'a prefix that no key can have');
  },
  async 'lists thousands of records, each once, while others are written'(rig) {
    const store = await rig.open();
    const keys = numbered(3000, 'key').sort();
    await store.commit({ puts: keys.map((key) => [key, bytesOf(key)]) });
    const found: string[] = [];
    for await (const [key, value] of store.entries()) {
      equal(textOf([value]), key, 'value');
      found.push(key);
      if (found.length % 500 === 0) await store.commit({ removes: [key], puts: records('!=x') });
    }
    equal(found, keys, 'keys');
  },
  async 'takes keys of 1 to 511 bytes and values of 0 bytes to 64 MiB, and refuses the rest of a batch with what is larger'(
    rig,
  ) {
    const store = await rig.open();
    const [longest, largest] = ['é'.repeat(255) + 'x', new Uint8Array(64 * MIB)];
    await store.commit({ puts: [[longest, largest]] });
    equal(await contents(store), [`${longest}=${largest.length}`], 'the largest record');
    await store.commit({ removes: [longest] });
    for (const key of ['', 'x'.repeat(512), 'é'.repeat(256), '\uD800']) {
      await rejects(store.commit({ puts: [...records('a=1'), [key, bytesOf('')]] }), 'OPTIONS_INVALID');
      await rejects(store.commit({ removes: [key] }), 'OPTIONS_INVALID');
      check((await store.get(key)) === undefined, 'a key over the limits has a value');
    }
    await rejects(store.commit({ puts: [['b', new Uint8Array(64 * MIB + 1)]] }), 'OPTIONS_INVALID');
    equal(await contents(store), [], 'contents');
  },
  async 'lets commits overlap, in the order of the calls'(rig) {
    const place = await rig.place();
    const store = await rig.open(place);
    const done: number[] = [];
    const commits = Array.from({ length: 500 }, (_, n) =>
      store
        .commit({ puts: records(`last=${n}`, `own${n % 7}=${n}`), removes: n % 2 === 0 ? ['odd'] : [] })
        .then(() => done.push(n)),
    );
    await Promise.all(commits);
    equal(
      done,
      Array.from({ length: 500 }, (_, n) => n),
      'order in which they were durable',
    );
    equal((await contents(store)).slice(0, 2), ['last=499', 'own0=497'], 'contents');
  },
  async 'waits in close for commits that are under way'(rig) {
    const place = await rig.place();
    const store = await rig.open(place);
    const ends: string[] = [];
    const commit = store.commit({ puts: records('a=1') }).then(() => ends.push('commit'));
    await store.close().then(() => ends.push('close'));
    await commit;
    equal(ends, ['commit', 'close'], 'order');
  },
  async 'opens and closes any number of times, and is refused with CLOSED in between'(rig) {
    const store = await rig.bare();
    await refused();
    await Promise.all([store.open(), store.open()]);
    await store.open();
    await store.commit({ puts: records('a=1') });
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await refused();
    await store.open();
    equal(await contents(store), ['a=1'], 'contents after opening the same store again');

    async function refused(): Promise<void> {
      await rejects(store.get('a'), 'CLOSED');
      await rejects(store.commit({ puts: records('a=2') }), 'CLOSED');
      await rejects(contents(store), 'CLOSED');
    }
  },
};

/** Cases by the feature they need. */
const NEEDY: Readonly<Record<keyof RecordsCapabilities, Cases<Rig>>> = {
  durable: {
    async 'finds everything again in another store of the same place'(rig) {
      const place = await rig.place();
      const first = await rig.open(place);
      await first.commit({ puts: records('a=1', 'b=2', 'c=3') });
      await first.commit({ removes: ['b'], puts: records('c=4') });
      await first.close();
      equal(await contents(await rig.open(place)), ['a=1', 'c=4'], 'contents');
    },
  },
  exclusive: {
    async 'is refused to a second one while it is open, naming the holder, and free after close'(rig) {
      const place = await rig.place();
      const first = await rig.open(place);
      const second = await rig.bare(place);
      const text = await rejects(second.open(), 'UNAVAILABLE');
      check(/held by process \d+/.test(text), `"${text}" does not name the process`);
      await first.close();
      await second.open();
    },
  },
  breakable: {
    async 'keeps nothing of a commit that fails, lets others through that need no room, and works again afterwards'(
      rig,
    ) {
      const place = await rig.place();
      const store = await rig.open(place);
      await store.commit({ puts: records('a=1', 'b=2') });
      const heal = await place.breakWrites?.();
      const large = store.commit({
        puts: [['large', new Uint8Array(16 * MIB)], ...records('small=1')],
        removes: ['a'],
      });
      const others = Promise.allSettled([large, store.commit({ removes: ['b'] })]);
      await rejects(large, 'WRITE_FAILED');
      equal(
        (await others).map(({ status }) => status),
        ['rejected', 'fulfilled'],
        'what became of both',
      );
      equal(await contents(store), ['a=1'], 'contents while writes fail');
      await heal?.();
      await store.commit({ puts: records('c=3') });
      equal(await contents(store), ['a=1', 'c=3'], 'contents afterwards');
    },
  },
  killable: {
    async 'keeps what was committed when the process is killed, and holds batches whole or not at all'(rig) {
      const place = await rig.place();
      const told = Number((await place.killWriter?.())?.at(-1) ?? 0);
      check(told > 0, 'the writer was killed before it had done anything');
      const store = await rig.open(place);
      const found = await contents(store);
      // The batch after the last reported one is there completely or not at all; none of the earlier ones is left.
      const options = [told, told + 1].map((n) => batchOf(n).puts.map(([key, value]) => `${key}=${textOf([value])}`));
      const isOne = options.some((texts) => texts.sort().join() === found.sort().join());
      check(isOne, `after batch ${told} there is ${found.slice(0, 5).join()} ...`);
    },
  },
};

const WRITTEN = 20;

/** Batch `n` puts 20 records and removes those of the batch before. */
function batchOf(n: number) {
  const keysOf = (batch: number): string[] => numbered(WRITTEN, `${batch}/`);
  return { puts: records(...keysOf(n).map((key) => `${key}=${n}`)), removes: n > 0 ? keysOf(n - 1) : [] };
}

/**
 * For another process, which is killed meanwhile: opens the store and commits for ever. `tell` is called after each commit with a line that must
 * be written before it returns.
 */
export async function writeRecordsUntilKilled(store: RecordStore, tell: (line: string) => void): Promise<never> {
  await store.open();
  for (let n = 0; ; n++) {
    await store.commit(batchOf(n));
    tell(n.toString());
  }
}

/** The cases for one implementation of `RecordStore`. Each creates its own places. */
export function recordsCompliance(subject: RecordsSubject): readonly ComplianceCase[] {
  const open = () => new Rig(subject);
  const needy = Object.entries(NEEDY) as [keyof RecordsCapabilities, Cases<Rig>][];
  return [
    ...bindCases(open, CASES),
    ...needy.flatMap(([needs, cases]) => bindCases(open, cases, subject.capabilities[needs])),
  ];
}
