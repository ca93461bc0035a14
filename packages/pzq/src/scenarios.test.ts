import { fileURLToPath } from 'node:url';
import { runScenarios } from '@proj/testkit';
import { pzqScenario } from '../test/scenario-handler.js';

runScenarios(fileURLToPath(new URL('scenarios', import.meta.url)), pzqScenario);
