import { fileURLToPath } from 'node:url';
import { runScenarios } from '@proj/testkit';
import { mdpScenario } from '../../test/mdp/scenario-handler.js';

runScenarios(fileURLToPath(new URL('scenarios', import.meta.url)), mdpScenario);
