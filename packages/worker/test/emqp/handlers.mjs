// Registered jobs for tests, and the hooks around them. What they do can be read in a file, whoever runs them.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

const log = process.env.PROJ_TEST_LOG;
const note = (text) => {
  if (log !== undefined) appendFileSync(log, `${text}\n`);
};

let state = 0;

export const onProcessStart = () => note(`start ${process.pid}`);
export const onJobEntry = ({ id, run }) => note(`entry ${id} ${run}`);
export const onJobExit = ({ id, run, failed }) => {
  note(`exit ${id} ${run} ${failed}`);
  if (id === 'odd') throw new Error('nobody minds');
};

export default {
  'my.add': (a, b) => a + b,
  'my.count': () => ++state,
  'my.pid': () => process.pid,
  'my.fail': (text) => {
    throw new Error(text);
  },
  /** Never ends and listens to nothing. */
  'my.spin': (text) => {
    note(`${text} ${process.pid}`);
    for (;;);
  },
  /** Never ends. */
  'my.hang': (text) => {
    note(`${text} ${process.pid}`);
    return new Promise(() => setInterval(() => {}, 1000));
  },
  /** Ends when somebody else writes this line. */
  'my.wait': (text, line) => {
    note(`${text} ${process.pid}`);
    return new Promise((resolve) => {
      const looking = setInterval(() => {
        if (!readFileSync(log, 'utf8').split('\n').includes(line)) return;
        clearInterval(looking);
        resolve(line);
      }, 5);
    });
  },
  /** Has a process of its own. */
  'my.child': (text) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    note(`${text} ${child.pid}`);
    return new Promise(() => undefined);
  },
  /** Leaves a process behind. */
  'my.leave': (text) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    note(`${text} ${child.pid}`);
  },
  'my.die': (code) => process.exit(code),
  'my.note': (text) => {
    note(text);
    return text;
  },
};
