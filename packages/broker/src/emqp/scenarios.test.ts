import { fileURLToPath } from 'node:url';
import { runScenarios } from '@proj/testkit';
import { emqpScenario } from '../../test/emqp/scenario-handler.js';

runScenarios(fileURLToPath(new URL('scenarios', import.meta.url)), emqpScenario);
