/** How long `--help` of each program takes, beside a Node.js that does nothing, and what each weighs: `npm run start-up`. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROUNDS = 11;
const LIMIT_MS = 150;

function medianMs(args) {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint();
    execFileSync(process.execPath, args, { stdio: 'ignore' });
    return Number(process.hrtime.bigint() - start) / 1e6;
  });
  return times.sort((a, b) => a - b)[(ROUNDS - 1) / 2];
}

function megabytes(folder) {
  const files = readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)));
  return files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0) / 1e6;
}

const idle = medianMs(['-e', '0']);
console.log(`Median of ${ROUNDS} starts. Node.js alone: ${idle.toFixed(0)} ms.`);
for (const app of ['broker', 'queue', 'worker', 'scheduler', 'cli']) {
  const folder = join('apps', app, 'dist');
  const ms = medianMs([join(folder, 'main.js'), '--help']);
  const late = ms > LIMIT_MS ? `  over ${LIMIT_MS} ms: is the machine busy?` : '';
  console.log(
    `${app.padEnd(10)} --help ${ms.toFixed(0).padStart(4)} ms  dist ${megabytes(folder).toFixed(1)} MB${late}`,
  );
}
