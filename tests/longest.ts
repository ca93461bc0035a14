/** The test files that take longest, by path from here. Files that compute and files that wait alternate, because they run well together. */
export const LONGEST: readonly string[] = [
  'simulation/nfp.test.ts',
  'chaos/pzq/crash.long.test.ts',
  'simulation/emqp.test.ts',
  'chaos/nfp/restarts.long.test.ts',
  'interop/dashboard/running.test.ts',
  'interop/nfp/client.test.ts',
  'interop/dashboard/page.test.ts',
  'simulation/mdp.test.ts',
  'chaos/mdp/restarts.long.test.ts',
  'chaos/mdp/ten-thousand.long.test.ts',
  'chaos/emqp/store.long.test.ts',
  'simulation/ppp.test.ts',
  'chaos/nfp/lost-workers.long.test.ts',
  'simulation/pzq.test.ts',
  'chaos/ppp/ten-thousand.long.test.ts',
];
