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
  withinADay,
} from '@proj/appkit';
import * as z from 'zod';

/** Schema of all options. The defaults are those of `EmqpScheduler`, which also refuses inconsistent values. */
export const schedulerOptions = z.strictObject({
  connect: connectEndpoints()
    .default(['tcp://127.0.0.1:47291'])
    .describe('frontends of EventMQ brokers, in order of preference'),
  store: text('STORE', 'lmdb:FOLDER or memory:')
    .default('lmdb:./emqp-schedules')
    .describe('where to keep jobs: lmdb:FOLDER on a local disk, or memory: for jobs that may be lost'),
  timeZone: text('ZONE', 'a time zone such as UTC or Europe/Berlin')
    .default('UTC')
    .describe('time zone of cron expressions'),
  catchUp: onOff()
    .default(false)
    .describe('run a cron job once at the start if its time passed while no scheduler ran'),
  jobsMax: wholeNumber({ min: 1, max: 10_000_000 })
    .default(1_000_000)
    .describe('jobs to keep; beyond that, new ones are refused'),
  jobsMaxBytes: bytes({ min: 1024 }).default(536_870_912).describe('bytes that their bodies may take'),
  heartbeatMs: withinADay().default(3000).describe('interval of heartbeats to the broker'),
  brokerExpiryMs: withinADay()
    .default(15_000)
    .describe('silence after which the scheduler gives up a broker and tries the next one'),
  storeRetryMs: withinADay().default(5000).describe('how often a failed store is retried'),
  drainMs: withinADay().default(10_000).describe('how long SIGTERM waits for pending writes'),
  transport: transportOption(),
  ...httpOptions,
  statsMs: milliseconds({ min: 1 }).default(10_000).describe('how often counters are logged, at level debug'),
});

/** Values of the {@link schedulerOptions}. */
export type SchedulerSettings = z.output<typeof schedulerOptions>;
