/** proj-scheduler: EventMQ jobs at intervals or by cron. */
import type { Logger } from '@proj/appkit';
import { defineCommand, processTransport, runServer, serveUntilEnded, WatchedRecords } from '@proj/appkit';
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
  async run(context) {
    const { settings, log, onEndedAtOnce, onReload } = context;
    const { connect, store } = settings;
    const records = new WatchedRecords(storeOf(store));
    const scheduler = new EmqpScheduler(optionsFrom(settings, records));
    logNotes(scheduler, log);
    onEndedAtOnce(() => ({ jobs: scheduler.stats()?.jobs }));
    onReload(() => Promise.resolve([]));
    const ended = new AbortController();
    scheduler.on('ended', () => {
      ended.abort();
    });
    await scheduler.start();
    const figures = () => ({ jobs: scheduler.stats()?.jobs });
    const warning = 'jobs are lost when this process ends: choose --store lmdb:FOLDER to keep them';
    return serveUntilEnded(context, {
      servers: [
        {
          protocol: 'scheduler',
          facade: scheduler,
          onNote: (listener) => scheduler.on('note', listener),
          fault: () => records.fault,
        },
      ],
      listening: (http) => ({ endpoints: connect, store, ...figures(), http }),
      warning: store === 'memory:' ? [{ store }, warning] : undefined,
      logStats: () => {
        log.debug(scheduler.stats(), 'stats');
      },
      ends: [ended.signal],
      drain: () => scheduler.drain(),
      drained: figures,
    });
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

await runServer('proj-scheduler', manifest.version, serve);
