import { mergeConfig } from 'vitest/config';
import { project } from '../vitest.shared.js';
import { ON_BOTH, ONCE } from './on-both.js';

/** What another task runs. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = { '0': [ON_BOTH], '1': ONCE };

export default mergeConfig(project('tests', { isolate: false }), {
  test: { exclude: [...(ELSEWHERE[process.env['PROJ_LONG'] ?? ''] ?? [])] },
});
