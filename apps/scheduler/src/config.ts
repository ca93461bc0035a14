/** The options of proj-scheduler: those of `EmqpScheduler`, as flags. */
import {
  bytes,
  connectEndpoints,
  httpOptions,
  milliseconds,
  onOff,
  text,
  transportOption,
  wholeNumber,
} from '@proj/appkit';
import * as z from 'zod';

const DAY_MS = 86_400_000;

/** Schema of all options. Defaults are those of `EmqpScheduler`; what does not fit together is refused there. */
export const schedulerOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47291'])
    .describe('frontends of EventMQ brokers, in order of preference'),
  store: text('STORE', 'lmdb:FOLDER or memory:')
    .default('lmdb:./emqp-schedules')
    .describe('where jobs are kept: lmdb:FOLDER, on a disk of this machine, or memory: for what may be forgotten'),
  timeZone: text('ZONE', 'a time zone such as UTC or Europe/Berlin')
    .default('UTC')
    .describe('time zone of cron expressions'),
  catchUp: onOff()
    .default(false)
    .describe('run a cron job once at the start if its time passed while no scheduler ran'),
  jobsMax: wholeNumber({ min: 1, max: 10_000_000 })
    .default(1_000_000)
    .describe('jobs that are kept; beyond it others are refused'),
  jobsMaxBytes: bytes({ min: 1024 }).default(536_870_912).describe('what their bodies may take'),
  heartbeatMs: milliseconds({ min: 1, max: DAY_MS }).default(3000).describe('how often the broker hears of us'),
  brokerExpiryMs: milliseconds({ min: 1, max: DAY_MS })
    .default(15_000)
    .describe('silence after which a broker is given up for the next one'),
  storeRetryMs: milliseconds({ min: 1, max: DAY_MS })
    .default(5000)
    .describe('how often a store that failed is tried again'),
  drainMs: milliseconds({ min: 1, max: DAY_MS })
    .default(10_000)
    .describe('how long SIGTERM waits for what is being written'),
  transport: transportOption(),
  ...httpOptions,
  statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
});

/** Values of the {@link schedulerOptions}. */
export type SchedulerSettings = z.output<typeof schedulerOptions>;
