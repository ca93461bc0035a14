// The sample jobs of `proj-worker --protocol emqp`, by `path.callable`. Plain JavaScript: job processes load this file as it is.
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

export default {
  /** The sum of the numbers. */
  'sample.add': (...numbers) => numbers.reduce((sum, number) => sum + number, 0),
  /** Its arguments. */
  'sample.echo': (...args) => args,
  /** Does nothing. */
  'sample.noop': () => undefined,
  /** Fails with this text. */
  'sample.fail': (text = 'it always does') => {
    throw new Error(text);
  },
  /** The digest of a text, in hex. */
  'sample.sha256': (text) => createHash('sha256').update(String(text)).digest('hex'),
  /** Ends after this many seconds, and returns the number. */
  'sample.sleep': (seconds) => setTimeout(seconds * 1000, seconds),
  /** The id of the process it runs in. */
  'sample.pid': () => process.pid,
};
