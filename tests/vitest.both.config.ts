// What `npm test` and `npm run test:interop` run here: everything, with the tests of other processes on both
// transports.
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { LONGEST } from './longest.js';

/** The longest files start first, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((path) => moduleId.endsWith(`/tests/${path}`));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: { projects: ['vitest.config.ts', 'vitest.zmtp.config.ts'], sequence: { sequencer: LongestFirst } },
});
