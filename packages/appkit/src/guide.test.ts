import { expect, it } from 'vitest';
import { withOptions } from './guide.js';

const HELP = `Usage: proj-x [options]

Options:
  --connect <ENDPOINT>     where the broker is, unless
                           --bind says where it comes to (default:
                           tcp://127.0.0.1:5555)
  --pool <processes|threads>
                           where jobs run, such as db://...
  --loud                   says more, also at /healthz
  --tasks                  has tasks: many (default: true)
  --help                   print this help

Examples:
  --no option
`;

it('draws a row for each option of the help, whatever the table said before', () => {
  const guide = (...rows: string[]): string =>
    ['# X', '', '| flag | default | meaning |', '| --- | --- | --- |', ...rows, '', 'More.', ''].join('\n');
  expect(withOptions(guide('| `--old` | 1 | gone |'), HELP)).toBe(
    guide(
      '| `--connect ENDPOINT` | `tcp://127.0.0.1:5555` | where the broker is, unless `--bind` says where it comes to |',
      '| `--pool processes\\|threads` | none | where jobs run, such as `db://...` |',
      '| `--loud` | off | says more, also at `/healthz` |',
      '| `--tasks` | on | has tasks: many |',
    ),
  );
});

it('refuses a guide without a table of flags', () => {
  expect(() => withOptions('# X', HELP)).toThrow('the guide has no table of flags');
});
