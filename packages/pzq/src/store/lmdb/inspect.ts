/** Checks the entries of an LMDB store. */
import type { Inspect } from '@proj/store/lmdb-folder';
import { LEDGER_KEY, decodeLedger, isOurFormat } from './ledger.js';
import { contentOf, decodeHead, readBody } from './record.js';
import { TABLES } from './tables.js';
import { decodeCount, decodeTime, isNothing } from './values.js';

/** Accepts every entry of a store of another format, which is rejected anyway. */
export function inspectQueue(): Inspect {
  let isOurs = false;
  return (table, key, value) => {
    if (table === '' && key.toString() === LEDGER_KEY) {
      isOurs = isOurFormat(value);
      return !isOurs || isLedger(value);
    }
    return !isOurs || isIntact(table, key, value);
  };
}

/** True for an entry with a valid checksum, in a store of our format. */
export function isIntact(table: string, key: Buffer, value: Buffer): boolean {
  switch (table) {
    case TABLES.messages:
    case TABLES.delayed:
    case TABLES.dead: {
      const content = contentOf(key, value);
      return content !== undefined && decodeHead(content) !== undefined;
    }
    case TABLES.bodies:
      return readBody(key, value) !== undefined;
    case TABLES.deliveries:
      return decodeCount(key, value) !== undefined;
    case TABLES.ids:
      return decodeTime(key, value) !== undefined;
    case TABLES.moments:
    case TABLES.idTimes:
      return isNothing(key, value);
    default:
      return true;
  }
}

function isLedger(value: Buffer): boolean {
  try {
    decodeLedger(value, '');
    return true;
  } catch {
    return false;
  }
}
