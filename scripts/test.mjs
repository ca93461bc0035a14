// Runs checks through turbo and ends with one line, alone: `N passed, N failed`.
//   (no arguments)   every gate, and every test but the long ones; what turbo has cached counts as well
//   --all            the long ones, too
//   --all --rest     only those
//   --interop        peers in other languages; never cached; with --all or --all --rest, as well as those
//   PATTERN ...      only test files below that path, or whose path inside their package contains PATTERN, long ones as well; vitest's
//                    own options work after it, such as -t TITLE. No gates
//   --interop PATTERN ...     the same, only among the tests with peers in other languages
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { countReport, countTask, failuresOf } from './counts.mjs';
import { filesWith, planOf, runsOf } from './test-plan.mjs';

const SUMMARIES = '.turbo/runs';

/** Runs a command in the foreground; signals go to it, its exit code comes back, or the signal that ended it. */
function start(command, ...rest) {
  const child = spawn(command, rest, { stdio: 'inherit' });
  // A terminal tells the child of Ctrl-C by itself.
  const forward = (signal) => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  return new Promise((finished, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      finished({ code, signal });
    });
  });
}

/** Runs commands side by side; 0, or the exit code of the first that failed. */
async function run(...commands) {
  const ends = await Promise.all(commands.map((words) => start(...words)));
  const killed = ends.find(({ signal }) => signal !== null);
  if (killed !== undefined) process.exit(128 + constants.signals[killed.signal]);
  return ends.find(({ code }) => code !== 0)?.code ?? 0;
}

const readJson = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);

/** The tasks of the runs that have just ended, without those that only order others. */
function tasksOfRuns() {
  const summaries = existsSync(SUMMARIES) ? readdirSync(SUMMARIES) : [];
  return summaries
    .flatMap((summary) => readJson(join(SUMMARIES, summary)).tasks)
    .filter((task) => task.command !== '<NONEXISTENT>');
}

/** Programs are tested as they are built, and so is what lies in `tests`. */
const builtPackages = () => [...readdirSync('apps').map((name) => `@proj/app-${name}`), '@proj/tests'];

/** Nothing of an earlier run may be counted; turbo puts the reports of cached tasks back. */
function forgetEarlierRuns() {
  rmSync(SUMMARIES, { recursive: true, force: true });
  for (const folder of ['packages', 'apps'])
    for (const name of readdirSync(folder)) rmSync(join(folder, name, 'reports'), { recursive: true, force: true });
  for (const name of ['bench', 'tests']) rmSync(join(name, 'reports'), { recursive: true, force: true });
}

async function runTasks(tasks) {
  forgetEarlierRuns();
  const flags = ['--continue=dependencies-successful', '--summarize', '--log-order=grouped', '--output-logs=new-only'];
  const runs = runsOf(tasks, builtPackages());
  // More tasks than cores, since many tests wait for other processes, but not so many that they wait for each other.
  const places = ['--concurrency=200%', '--concurrency=100%'];
  const code = await run(...runs.map((words, at) => ['turbo', 'run', ...words, ...flags, places[at]]));
  const counts = tasksOfRuns().map((task) => {
    const report = readJson(join(task.directory, 'reports', `${task.task}.json`));
    const count = countTask(task, report);
    if (count.failed > 0) tellFailures(task, count, report);
    return count;
  });
  return finish(counts, code);
}

/** Says once more, where nobody has to search for it, what failed: the tests, or how the output of the task ended. */
function tellFailures(task, { id, failed }, report) {
  console.log(`${id}: ${failed} failed`);
  const failures = report === undefined ? [] : failuresOf(report);
  for (const failure of failures) console.log(`  ${failure}`);
  if (failures.length === 0 && existsSync(task.logFile))
    console.log(readFileSync(task.logFile, 'utf8').trimEnd().split('\n').slice(-30).join('\n'));
}

/** Vitest looks for a pattern in paths inside each package; a path from the root must be absolute to be understood. */
function fromRoot(arg) {
  const path = resolve(arg);
  return arg.includes('/') && existsSync(dirname(path)) ? path : arg;
}

/** The files below the folder that the patterns choose. */
function filesIn(folder, patterns) {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
  return filesWith(patterns, paths);
}

async function runPatterns({ patterns, options, folder }) {
  const chosen = folder === undefined ? patterns : filesIn(folder, patterns);
  if (folder !== undefined && chosen.length === 0)
    return refuse(`no test file below ${folder} has ${patterns.join(' or ')} in its path`);
  // A simulation runs on the sources: whoever looks for a bug by its seed does not want to wait for builds.
  const built = patterns[0]?.startsWith('simulation')
    ? 0
    : await run(['turbo', 'run', 'build', 'declarations', '--output-logs=errors-only']);
  if (built !== 0) return built;
  const report = join(tmpdir(), `proj-${process.pid}.json`);
  try {
    const code = await run([
      'vitest',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...chosen.map(fromRoot),
      ...options,
    ]);
    const counted = readJson(report);
    return finish(counted === undefined ? [] : [countReport(counted)], code);
  } finally {
    rmSync(report, { force: true });
  }
}

function refuse(sentence) {
  console.error(sentence);
  return finish([], 1);
}

function finish(counts, code) {
  const total = (field) => counts.reduce((sum, count) => sum + count[field], 0);
  const failed = Math.max(total('failed'), code === 0 ? 0 : 1);
  console.log(`${total('passed')} passed, ${failed} failed`);
  return failed === 0 ? 0 : code || 1;
}

const plan = planOf(process.argv.slice(2));
if ('refused' in plan) process.exitCode = refuse(plan.refused);
else process.exitCode = await ('tasks' in plan ? runTasks(plan.tasks) : runPatterns(plan));
