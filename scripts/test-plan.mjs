// Decides what `npm test`, `npm run test:all` and `npm run test:interop` run, from their arguments. Pure.

const SHORT = ['types', 'lint', 'format', 'unused', 'rules', 'test', 'build'];
const TASKS = {
  '': SHORT,
  '--all': [...SHORT, 'long'],
  '--all --rest': ['long'],
  '--interop': ['interop'],
};
const MODES = ['--all', '--rest', '--interop'];

/** Folder of the tests with peers in other languages. */
export const INTEROP = 'tests/interop/';

/** Tasks of turbo; or patterns and options of vitest, with the folder whose files the patterns select, if there is one; or the reason for neither. */
export function planOf(args) {
  const mode = args.filter((arg) => MODES.includes(arg)).join(' ');
  const words = args.filter((arg) => !MODES.includes(arg));
  if (words.length === 0) {
    const tasks = TASKS[mode];
    return tasks === undefined
      ? { refused: `${mode}: --rest needs --all, as in npm run test:all -- --rest` }
      : { tasks };
  }
  if (mode.includes('--rest'))
    return { refused: '--rest takes no pattern: npm test -- PATTERN runs the long tests among the files as well' };
  const at = words.findIndex((word) => word.startsWith('-'));
  const patterns = at < 0 ? words : words.slice(0, at);
  const options = at < 0 ? [] : words.slice(at);
  return { patterns, options, folder: mode === '--interop' ? INTEROP : undefined };
}

/** The test files, by their paths from the root, whose paths contain one of the patterns; without patterns, all. */
export function filesWith(patterns, paths) {
  const tests = paths.filter((path) => path.endsWith('.test.ts'));
  return patterns.length === 0 ? tests : tests.filter((path) => patterns.some((pattern) => path.includes(pattern)));
}
