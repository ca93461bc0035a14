import { fileURLToPath } from 'node:url';
import { runScenarios } from '@proj/testkit';
import { nfpScenario } from '../../test/nfp/scenario-handler.js';

runScenarios(fileURLToPath(new URL('scenarios', import.meta.url)), nfpScenario);
