/**
 * Where jobs run in here: processes that accept, work and die in virtual time. Everything else of a job manager is
 * real.
 */
import type { Timer } from '@proj/heartbeat';
import { latin1 } from '@proj/frames';
import type { SeededRandom, VirtualTransport } from '@proj/transport/virtual';
import type { EmqpJobHostListener, EmqpRun, EmqpStartJobHost } from '@proj/worker/emqp';
import { jobName } from './sight.js';
import type { Task } from './task.js';

/** Longest start, and longest time between a kill and the end of the process. Virtual milliseconds. */
const START_MS = 40;
const DEATH_MS = 5;

/** Informed about what happens to jobs. */
export interface RunObserver {
  /** A run starts: the first one is number 1. */
  onRun(name: string, run: number): void;
}

/** Starts such processes, never more than `max` at a time. */
export function simulatedJobHosts(
  max: number,
  transport: VirtualTransport,
  random: SeededRandom,
  observer: RunObserver,
): EmqpStartJobHost {
  let started = 0;
  let alive = 0;
  return (listener: EmqpJobHostListener) => {
    if (++alive > max) throw new Error(`${alive} processes for ${max} slots`);
    let timer: Timer | undefined;
    let isOver = false;
    const after = (ms: number, what: () => void): void => {
      timer?.cancel();
      timer = transport.clock.at(transport.clock.now() + ms, what);
    };
    const exit = (reason: string): void => {
      if (isOver) return;
      isOver = true;
      timer?.cancel();
      alive--;
      listener.onExit(reason);
    };
    const run = ({ number, body, run: attempt }: EmqpRun): void => {
      const name = jobName(body);
      const task = taskOf(body);
      observer.onRun(name, attempt);
      if (task.end === 'hangs') return;
      after(task.ms, () => {
        if (task.end === 'dies') exit('the process ended with code 7');
        else if (attempt <= task.failing)
          listener.onMessage({ number, outcome: 'failed', json: '{"value": "in vain"}' });
        else {
          listener.onMessage({ number, outcome: 'done', json: JSON.stringify({ value: `${name} done` }) });
        }
      });
    };
    return {
      id: ++started,
      post: (message) => {
        if ('run' in message) run(message.run);
        else if ('stop' in message)
          after(random.between(0, DEATH_MS), () => {
            exit('the process ended with code 0');
          });
        else
          after(random.between(1, START_MS), () => {
            listener.onMessage({ ready: true });
          });
      },
      kill: () => {
        if (!isOver)
          after(random.between(0, DEATH_MS), () => {
            exit('the process was ended by SIGKILL');
          });
      },
    };
  };
}

function taskOf(body: Uint8Array): Task {
  const [, { args }] = JSON.parse(latin1(body)) as [string, { args: [string, Task] }];
  return args[1];
}
