/** `npm run fuzz` feeds ten million cases, `npm run test:all` another half a million; PROJ_FUZZ_CASES and PROJ_FUZZ_SEED choose others. */
import { expect, it } from 'vitest';
import { fuzz } from './test/fuzz.js';

const cases = Number(process.env['PROJ_FUZZ_CASES'] ?? 50_000);
const seed = Number(process.env['PROJ_FUZZ_SEED'] ?? 1);

it(
  'damaged conversations of all socket types and mechanisms never crash, hang or bloat a connection',
  { timeout: 0 },
  () => {
    const report = fuzz(cases, seed);
    if (process.env['PROJ_FUZZ_CASES'] !== undefined) console.log(report);
    // Every kind of end occurred, so each was tested.
    expect([...report.seen.keys()]).toEqual(
      expect.arrayContaining(
        'ready message subscription rejected held silent handshake-timeout malformed not-zmtp version mechanism too-large socket-type security denied refused'.split(
          ' ',
        ),
      ),
    );
    expect(report.worstGrowth).toBeLessThan(3);
  },
);
