/** proj: the operator's command. */
import { runProgram } from '@proj/appkit';
import manifest from '../package.json' with { type: 'json' };
import { call } from './call.js';
import { decode } from './decode.js';
import { services, workers } from './listings.js';

await runProgram({
  name: 'proj',
  version: manifest.version,
  summary: 'Calls services and looks at brokers.',
  envPrefix: 'PROJ_CLI_',
  // Standard output belongs to the results.
  logging: { fd: 2, level: 'warn' },
  commands: [call, services, workers, decode],
});
