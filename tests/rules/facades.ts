/** The facades: exported classes with a life cycle. */
import * as brokers from '@proj/broker';
import * as clients from '@proj/client';
import * as queues from '@proj/pzq';
import * as schedulers from '@proj/scheduler';
import * as workers from '@proj/worker';

/** Exported classes that are not facades: engines, sessions, stores, errors. */
const OTHERS = /(?:Engine|Session|Store|Error|Failure)$/;

/** The facades of all packages, by name. */
export const FACADES: readonly string[] = [brokers, clients, workers, queues, schedulers]
  .flatMap((exported) => Object.entries(exported as Record<string, unknown>))
  .filter(([name, value]) => /^[A-Z]/.test(name) && typeof value === 'function' && !OTHERS.test(name))
  .map(([name]) => name);
