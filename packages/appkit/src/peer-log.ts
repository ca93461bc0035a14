/** Log lines about peers. */
import { LogBudget } from './log-budget.js';
import type { Logger } from './logging.js';

const ofPeers = new LogBudget();

/**
 * Logs a line that a peer caused, within the process's {@link LogBudget}. `key` is its reason and peer; without a key, the caller limits lines
 * per peer.
 */
export function logOfPeer(
  log: Logger,
  level: 'info' | 'warn',
  fields: object,
  message: string,
  key: string | undefined,
): void {
  if (!ofPeers.allow(key)) return;
  const withheld = ofPeers.takeWithheld();
  if (withheld > 0)
    log.warn({ withheld }, 'log lines withheld: peers caused more than one a minute each, or 100 a second');
  log[level](fields, message);
}
