import { fileURLToPath } from 'node:url';
import { runScenarios } from '@proj/testkit';
import { pppScenario } from '../../test/ppp/scenario-handler.js';

runScenarios(fileURLToPath(new URL('scenarios', import.meta.url)), pppScenario);
