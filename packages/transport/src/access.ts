/** Compiled access rules: which CURVE keys may send requests to which names, and which may serve them. Knows no protocol. See docs/adr/0012. */
import { encodeZ85 } from './curve/z85.js';
import type { Peer } from './port.js';

/** A right of a peer to a name: send requests to it, or serve it. Each protocol defines what a name is. */
export type AccessRight = 'request' | 'serve';

/** The rights of certain keys. Names are exact, or a prefix followed by `*`; `*` alone means every name. */
export interface AccessRule {
  /** Public keys as 40 characters of Z85; `*` means every peer, with or without a key. */
  readonly keys: readonly string[] | '*';
  /** Names these keys may send requests to. Default: none. */
  readonly request?: readonly string[] | undefined;
  /** Names these keys may serve. Default: none. */
  readonly serve?: readonly string[] | undefined;
  /** A note for readers; ignored. */
  readonly comment?: string | undefined;
}

/** A list of rules. Whatever no rule allows is denied. */
export type AccessRules = readonly AccessRule[];

/** Compiled rules. Immutable: to change them, compile new ones. */
export class Access {
  /** True if a rule names single keys, which requires a transport that reports its peers' keys. */
  readonly namesKeys: boolean;
  readonly #everybody: Grant;
  /** By key as text. Keys that appear in the same rules share one entry. */
  readonly #byKey = new Map<string, Grant>();
  /** By the key objects of the ports, because converting a key to text would dominate the cost. */
  readonly #met = new WeakMap<Uint8Array, Grant>();

  /** Takes time linear in the length of the rules, plus once for each combination of rules that keys share. */
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

  /**
   * Whether a peer with this key, or without one, has the right. O(1) in the number of rules, keys and names; at worst linear in the name's
   * length.
   */
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

/** The rights of a combination of rules. */
class Grant {
  readonly request: Names;
  readonly serve: Names;

  constructor(rules: AccessRules) {
    this.request = new Names(rules.flatMap(({ request = [] }) => request));
    this.serve = new Names(rules.flatMap(({ serve = [] }) => serve));
  }
}

/** A set of names and prefixes. */
class Names {
  readonly #exact = new Set<string>();
  readonly #beginnings = new Set<string>();
  /** The distinct lengths of the prefixes, ascending. */
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
