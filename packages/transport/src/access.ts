/** Who may ask for, and who may serve, what: rules about CURVE keys and names of services, compiled. No protocol. See docs/adr/0012. */
import { encodeZ85 } from './curve/z85.js';
import type { Peer } from './port.js';

/** What somebody may do with a name: send requests to it, or serve them. What a name is, each protocol says. */
export type AccessRight = 'request' | 'serve';

/** What some may do. Names are exact, or the beginning of names followed by `*`; `*` alone is every name. */
export interface AccessRule {
  /** Public keys as 40 characters of Z85; `*` is everybody, with a key or without. */
  readonly keys: readonly string[] | '*';
  /** Names they may send requests to. Default: none. */
  readonly request?: readonly string[] | undefined;
  /** Names they may serve. Default: none. */
  readonly serve?: readonly string[] | undefined;
  /** For people. */
  readonly comment?: string | undefined;
}

/** All rules together; what none of them allows is refused. */
export type AccessRules = readonly AccessRule[];

/** Compiled rules. They do not change; to change them, make others. */
export class Access {
  /** True when a rule is for single keys: worth nothing where messages do not tell theirs. */
  readonly namesKeys: boolean;
  readonly #everybody: Grant;
  /** By key as text; keys that the same rules name share what they may. */
  readonly #byKey = new Map<string, Grant>();
  /** Of the keys that were met, as the ports hold them: making text of a key costs more than all else. */
  readonly #met = new WeakMap<Uint8Array, Grant>();

  /** Costs what the rules are long, and again for each combination of rules that keys have in common. */
  constructor(rules: AccessRules) {
    const rulesOf = new Map<string, AccessRule[]>();
    for (const rule of rules)
      for (const key of rule.keys === '*' ? [] : new Set(rule.keys)) {
        const list = rulesOf.get(key);
        if (list === undefined) rulesOf.set(key, [rule]);
        else list.push(rule);
      }
    this.namesKeys = rulesOf.size > 0;
    this.#everybody = new Grant(rules.filter(({ keys }) => keys === '*'));
    const places = new Map(rules.map((rule, index) => [rule, index]));
    const shared = new Map<string, Grant>();
    for (const [key, list] of rulesOf) {
      const name = list.map((rule) => places.get(rule)).join();
      let grant = shared.get(name);
      if (grant === undefined) shared.set(name, (grant = new Grant(list)));
      this.#byKey.set(key, grant);
    }
  }

  /** Whether whoever has this key, or none, may. O(1) in the number of rules, keys and names; linear in the name's length at worst. */
  allows({ publicKey }: Pick<Peer, 'publicKey'>, right: AccessRight, name: string): boolean {
    return this.#everybody[right].has(name) || (publicKey !== undefined && this.#grantOf(publicKey)[right].has(name));
  }

  #grantOf(publicKey: Uint8Array): Grant {
    let grant = this.#met.get(publicKey);
    if (grant === undefined) {
      grant = this.#byKey.get(encodeZ85(publicKey)) ?? NOTHING;
      this.#met.set(publicKey, grant);
    }
    return grant;
  }
}

/** What some rules allow together. */
class Grant {
  readonly request: Names;
  readonly serve: Names;

  constructor(rules: AccessRules) {
    this.request = new Names(rules.flatMap(({ request = [] }) => request));
    this.serve = new Names(rules.flatMap(({ serve = [] }) => serve));
  }
}

/** A set of names, some of them by their beginning. */
class Names {
  readonly #exact = new Set<string>();
  readonly #beginnings = new Set<string>();
  /** How long beginnings are, each length once, ascending: no more than a name is long are ever looked up. */
  readonly #lengths: readonly number[];

  constructor(patterns: Iterable<string>) {
    for (const pattern of patterns)
      if (pattern.endsWith('*')) this.#beginnings.add(pattern.slice(0, -1));
      else this.#exact.add(pattern);
    this.#lengths = [...new Set(Array.from(this.#beginnings, ({ length }) => length))].sort((a, b) => a - b);
  }

  has(name: string): boolean {
    if (this.#exact.has(name)) return true;
    for (const length of this.#lengths) {
      if (length > name.length) return false;
      if (length === 0 || this.#beginnings.has(name.slice(0, length))) return true;
    }
    return false;
  }
}

const NOTHING = new Grant([]);
