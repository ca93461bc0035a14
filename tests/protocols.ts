/** What the tests need to know about each protocol. A new protocol is an entry here. */

/** What a test may ask about a protocol. */
export interface Traits {
  /** The program that serves it, and the options of this program that bind its endpoints. */
  readonly program: 'broker' | 'queue';
  readonly ports: readonly string[];
  /** A client of it in `@proj/client`. */
  readonly client: string;
  /** Prefix of the clauses in its document, and their minimum number. */
  readonly clauses: string;
  readonly atLeast: number;
  /** Sections of its document with numbered rules, and the files whose titles cite them. */
  readonly roles: readonly (readonly [role: string, heading: string, files: RegExp])[];
}

/** By name, as in paths. */
export const PROTOCOLS = {
  mdp: {
    program: 'broker',
    ports: ['mdp'],
    client: 'MdpClient',
    clauses: '18/',
    atLeast: 40,
    roles: [
      ['broker', '## 4. Broker', /^packages\/broker\/src\/mdp\/(?!.*pool)/],
      ['worker', '## 5. Worker', /^packages\/worker\/src\/mdp\//],
      ['client', '## 6. Client', /^packages\/client\/src\/mdp\//],
      ['pool', '## 7. Pool', /^packages\/broker\/src\/mdp\/.*pool/],
    ],
  },
  nfp: {
    program: 'broker',
    ports: ['nfp-events'],
    client: 'NfpClient',
    clauses: 'nfp/',
    atLeast: 29,
    roles: [
      ['broker', '## 4. Broker', /^packages\/broker\/src\/nfp\//],
      ['worker', '## 8. Worker', /^packages\/worker\/src\/nfp\//],
      ['client', '## 9. Client', /^packages\/client\/src\/nfp\//],
    ],
  },
  emqp: {
    program: 'broker',
    ports: ['emqp-frontend', 'emqp-backend', 'emqp-admin', 'emqp-publish', 'emqp-subscribe'],
    client: 'EmqpClient',
    clauses: 'emqp/',
    atLeast: 28,
    roles: [
      ['broker', '## 4. Broker', /^packages\/broker\/src\/emqp\//],
      ['job manager', '## 10. Job manager', /^packages\/worker\/src\/emqp\//],
      ['scheduler', '## 11. Scheduler', /^packages\/scheduler\/src\//],
    ],
  },
  ppp: {
    program: 'broker',
    ports: ['ppp-frontend', 'ppp-backend'],
    client: 'LazyPirateClient',
    clauses: '6/',
    atLeast: 15,
    roles: [
      ['queue', '## 3. Queue', /^packages\/broker\/src\/ppp\/(?!.*pool)/],
      ['worker', '## 4. Worker', /^packages\/worker\/src\/ppp\//],
      ['pool', '## 5. Pool', /^packages\/broker\/src\/ppp\/.*pool/],
      ['client', '## 6. Client', /^packages\/client\/src\/ppp\//],
    ],
  },
  pzq: {
    program: 'queue',
    ports: ['receive', 'send', 'monitor'],
    client: 'PzqProducer',
    clauses: 'pzq/',
    atLeast: 27,
    roles: [['queue', '## 3. Rules', /^(packages\/(pzq|client\/src\/pzq|frames\/src\/pzq)|tests\/interop\/pzq)\//]],
  },
} as const satisfies Readonly<Record<string, Traits>>;

/** Name of a protocol. */
export type Protocol = keyof typeof PROTOCOLS;

/** Their names. */
export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as Protocol[];
