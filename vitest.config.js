// Runs the tests of chosen files across all packages: `npm test -- PATTERN`.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      'packages/*',
      'packages/zmtp/vitest.plain.config.ts',
      'apps/*',
      'bench',
      'tests',
      'tests/vitest.zmtp.config.ts',
    ],
  },
});
