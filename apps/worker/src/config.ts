/** The options of proj-worker. */
import { connectEndpoints, milliseconds, oneOf, serviceNames, text, transportOption, wholeNumber } from '@proj/appkit';
import * as z from 'zod';
import { BUILT_IN } from './handlers/index.js';

/** The options one by one. */
const fields = z.strictObject({
  protocol: oneOf(['mdp', 'mdp01', 'ppp']).default('mdp').describe('Majordomo 0.2 or 0.1, or Paranoid Pirate'),
  connect: connectEndpoints()
    .optional()
    .describe(
      'brokers or queues, in order of preference (default: tcp://127.0.0.1:5555, with ppp tcp://127.0.0.1:5557)',
    ),
  service: serviceNames()
    .default(['echo'])
    .describe('services to offer; PPP has none, there a single one chooses the handler'),
  handler: text('HANDLER', `one of ${BUILT_IN.join(', ')}, or a file`)
    .optional()
    .describe(
      `what answers: ${BUILT_IN.join(', ')}, or FILE, a module whose default export is a handler (default: the built-in one named like the service)`,
    ),
  concurrency: wholeNumber({ min: 1, max: 1000 }).default(1).describe('requests handled at the same time, per service'),
  onError: oneOf(['disconnect', 'reply'])
    .default('disconnect')
    .describe('when a handler throws: leave the request to another worker, or reply with an error'),
  heartbeatMs: milliseconds({ min: 1, max: 86_400_000 })
    .optional()
    .describe("heartbeat interval, the same as the broker's (default: 2500, with ppp 1000)"),
  liveness: wholeNumber({ min: 2, max: 1000 })
    .default(3)
    .describe('silent intervals after which a broker counts as lost'),
  drainMs: milliseconds({ min: 1, max: 86_400_000 })
    .default(10_000)
    .describe('how long running requests may go on after SIGTERM'),
  transport: transportOption(),
  statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
});

/** {@link fields}, with what they demand of each other. */
export const workerOptions = fields.superRefine(({ protocol, service }, context) => {
  if (protocol !== 'ppp' || service.length === 1) return;
  const message = 'must be a single name with --protocol ppp, which knows no services and would mix them up';
  context.addIssue({ code: 'custom', path: ['service'], message });
});

/** The options with defaults filled in. */
export type WorkerSettings = z.output<typeof workerOptions>;
