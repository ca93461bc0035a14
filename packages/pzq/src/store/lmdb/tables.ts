/** The tables of a store: one per question that is asked of it. */
import type { Table } from '@proj/store/lmdb-folder';

/** The only file of a store that matters. */
export const FILE = 'queue.mdb';

/**
 * Their names in the file; the root holds the ledger. `messages`, `delayed` and `dead` hold each message once, by sequence: ready or
 * in flight, not ready yet, dead. `bodies` has packed bodies that are not in the record, `deliveries` how often messages that wait
 * were delivered before. `moments` says what is due when; `ids` until when the hash of a producer's id is known, and `idTimes`
 * which are forgotten when: neither `moments` nor `idTimes` has values.
 */
export const TABLES = {
  messages: 'messages',
  delayed: 'delayed',
  dead: 'dead',
  bodies: 'bodies',
  deliveries: 'deliveries',
  moments: 'moments',
  ids: 'ids',
  idTimes: 'id-times',
} as const;

/** All tables, open. */
export type Tables = Readonly<Record<keyof typeof TABLES, Table>>;
