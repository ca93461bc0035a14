/** proj-scheduler: EventMQ jobs at intervals or by cron. */
import type { Logger } from '@proj/appkit';
import { defineCommand, every, processTransport, runProgram, show, untilStopped, WatchedRecords } from '@proj/appkit';
import { EmqpScheduler } from '@proj/scheduler';
import type { EmqpSchedulerOptions, SchedulerNote } from '@proj/scheduler';
import { lmdbRecords } from '@proj/store';
import { memoryRecords, ProjError } from '@proj/transport';
import type { RecordStore } from '@proj/transport';
import manifest from '../package.json' with { type: 'json' };
import { schedulerOptions } from './config.js';
import type { SchedulerSettings } from './config.js';

/** Notes that are errors or of general interest; the rest are logged at level debug. */
const LEVELS: Readonly<Partial<Record<SchedulerNote['code'], 'error' | 'warn' | 'info'>>> = {
  'store-failed': 'error',
  'cron-unknown': 'error',
  lost: 'warn',
  'schedule-refused': 'warn',
  registered: 'info',
  left: 'info',
  scheduled: 'info',
  unscheduled: 'info',
  finished: 'info',
  'store-recovered': 'info',
};

const serve = defineCommand({
  name: 'serve',
  summary: 'Runs jobs that EventMQ clients schedule, at intervals or by cron.',
  options: schedulerOptions,
  examples: [
    { what: 'for a broker on this machine', line: '' },
    {
      what: 'two brokers, its own folder, local time',
      line: '--connect tcp://a:47291,tcp://b:47291 --store lmdb:/var/lib/schedules --time-zone Europe/Berlin',
    },
  ],
  async run({ settings, log, stop, serving, onEndedAtOnce, onReload }) {
    const { connect, store, statsMs } = settings;
    const records = new WatchedRecords(storeOf(store));
    const scheduler = new EmqpScheduler(optionsFrom(settings, records));
    logNotes(scheduler, log);
    onEndedAtOnce(() => ({ jobs: scheduler.stats()?.jobs }));
    onReload(() => Promise.resolve([]));
    const ended = new Promise<void>((resolve) => {
      scheduler.on('ended', resolve);
    });
    await scheduler.start();
    const drained = new AbortController();
    const shown = await show(settings, {
      name: 'proj-scheduler',
      version: manifest.version,
      servers: [
        {
          protocol: 'scheduler',
          facade: scheduler,
          onNote: (listener) => scheduler.on('note', listener),
          fault: () => records.fault,
        },
      ],
      log,
      onDrain: () => {
        drained.abort();
      },
    }).catch(async (error: unknown) => {
      await scheduler.drain();
      throw error;
    });
    log.info({ endpoints: connect, store, jobs: scheduler.stats()?.jobs, http: shown.url }, 'listening');
    serving();
    if (store === 'memory:')
      log.warn({ store }, 'jobs are lost when this process ends: choose --store lmdb:FOLDER to keep them');
    const logStats = () => log.debug(scheduler.stats(), 'stats');
    const endStats = every(statsMs, logStats);
    await Promise.race([untilStopped(AbortSignal.any([stop, drained.signal])), ended]);
    endStats();
    log.info('draining');
    shown.draining();
    await scheduler.drain();
    await shown.close();
    logStats();
    log.info({ jobs: scheduler.stats()?.jobs }, 'drained');
    return 0;
  },
});

function optionsFrom(settings: SchedulerSettings, store: RecordStore): EmqpSchedulerOptions {
  const { timeZone, catchUp, jobsMax, jobsMaxBytes, brokerExpiryMs, storeRetryMs, drainMs } = settings;
  return {
    endpoints: settings.connect,
    store,
    heartbeatIntervalMs: settings.heartbeatMs,
    transport: processTransport(settings.transport),
    ...{ timeZone, catchUp, jobsMax, jobsMaxBytes, brokerExpiryMs, storeRetryMs, drainMs },
  };
}

function logNotes(scheduler: EmqpScheduler, log: Logger): void {
  scheduler.on('note', ({ code, ...fields }) => {
    log[LEVELS[code] ?? 'debug'](fields, code);
  });
}

function storeOf(store: string): RecordStore {
  if (store === 'memory:') return memoryRecords();
  const folder = /^lmdb:(.+)$/.exec(store)?.[1];
  if (folder !== undefined) return lmdbRecords({ folder });
  throw new ProjError('OPTIONS_INVALID', `--store "${store}": must be lmdb:FOLDER or memory:`);
}

await runProgram({
  name: 'proj-scheduler',
  version: manifest.version,
  summary: serve.summary,
  envPrefix: 'PROJ_SCHEDULER_',
  logging: { fd: 1, level: 'info' },
  commands: [serve],
});
