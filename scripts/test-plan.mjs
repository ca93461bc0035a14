// Decides what `npm test`, `npm run test:all` and `npm run test:interop` run, from their arguments. Pure.

const SHORT = ['types', 'lint', 'format', 'unused', 'rules', 'test', 'build'];
const MODES = ['--all', '--rest', '--interop'];

/** Tasks of turbo for these modes, in whatever order they stand. */
function tasksOf(modes) {
  const interop = modes.has('--interop') ? ['interop'] : [];
  if (!modes.has('--all')) return modes.has('--interop') ? interop : SHORT;
  return [...(modes.has('--rest') ? [] : SHORT), 'long', ...interop];
}

/** Tasks that wait for builds, all or in part. */
const OF_BUILDS = ['rules', 'build', 'long', 'interop'];

/**
 * The arguments of turbo for tasks, for one run or for two side by side: what waits for builds, and what needs none. In one run the tests of packages would take all
 * places before the last build is made, and the longest task, which waits for that one, would begin last. `built` are the packages whose tests run builds.
 */
export function runsOf(tasks, built) {
  if (!tasks.includes('test')) return [tasks];
  const isOfBuilds = (task) => OF_BUILDS.includes(task);
  return [
    [...tasks.filter(isOfBuilds), ...built.map((name) => `${name}#test`)],
    [...tasks.filter((task) => !isOfBuilds(task)), ...built.map((name) => `--filter=!${name}`)],
  ];
}

/** Folder of the tests with peers in other languages. */
export const INTEROP = 'tests/interop/';

/** Tasks of turbo; or patterns and options of vitest, with the folder whose files the patterns select, if there is one; or the reason for neither. */
export function planOf(args) {
  const modes = new Set(args.filter((arg) => MODES.includes(arg)));
  const words = args.filter((arg) => !MODES.includes(arg));
  if (modes.has('--rest') && !modes.has('--all'))
    return { refused: '--rest needs --all, as in npm run test:all -- --rest' };
  if (words.length === 0) return { tasks: tasksOf(modes) };
  if (modes.has('--rest'))
    return { refused: '--rest takes no pattern: npm test -- PATTERN runs the long tests among the files as well' };
  const at = words.findIndex((word) => word.startsWith('-'));
  const patterns = at < 0 ? words : words.slice(0, at);
  const options = at < 0 ? [] : words.slice(at);
  return { patterns, options, folder: modes.has('--interop') && !modes.has('--all') ? INTEROP : undefined };
}

/** The test files, by their paths from the root, whose paths contain one of the patterns; without patterns, all. */
export function filesWith(patterns, paths) {
  const tests = paths.filter((path) => path.endsWith('.test.ts'));
  return patterns.length === 0 ? tests : tests.filter((path) => patterns.some((pattern) => path.includes(pattern)));
}
