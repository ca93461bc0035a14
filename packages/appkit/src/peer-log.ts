/** Log lines about peers. */
import { LogBudget } from './log-budget.js';
import type { Logger } from './logging.js';

const ofPeers = new LogBudget();

/**
 * A line that a peer has caused, within the {@link LogBudget} of the process. `key` is its reason and peer; without one, whoever
 * calls has looked at those.
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
