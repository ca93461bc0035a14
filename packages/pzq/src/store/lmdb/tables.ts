/** The tables of an LMDB store. */
import type { Table } from '@proj/store/lmdb-folder';

/** The file of a store. */
export const FILE = 'queue.mdb';

/**
 * Names of the tables in the file; the root holds the ledger. `messages`, `delayed` and `dead` hold each message once, by sequence. `bodies`
 * holds packed bodies too large for the record, `deliveries` the delivery counts of messages in the queue. `moments` lists what is due when,
 * `ids` until when the hash of a producer's id is known, `idTimes` which id is forgotten when. `moments` and `idTimes` have no values.
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
