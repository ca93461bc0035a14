/** The commands of the Paranoid Pirate queue's scenarios; `src/ppp/scenarios/README.md` lists them for readers. */
import type { ScenarioCommand, ScenarioHandler } from '@proj/testkit';
import { engineWords, optionWords } from '../scenario-words.js';
import { QueueUnderTest } from './under-test.js';

/** A handler with a queue of its own. */
export function pppScenario(): ScenarioHandler {
  let queue = new QueueUnderTest();

  function worker([name = '', verb, ...words]: readonly string[]): string[] {
    switch (verb) {
      case 'ready':
        return queue.ready(name);
      case 'heartbeat':
        return queue.heartbeat(name);
      case 'reply':
        return queue.reply(name, ...(words as [string, ...string[]]));
      case 'sends':
        return queue.backend(name, ...words);
      case 'gone':
        return queue.workerGone(name);
      case 'unreachable':
      case 'congested':
        return queue.workerUndeliverable(name, verb);
      default:
        throw new Error(`worker: unknown verb ${String(verb)}`);
    }
  }

  function client([name = '', verb, ...words]: readonly string[]): string[] {
    switch (verb) {
      case 'request':
        return queue.request(name, ...words);
      case 'sends':
        return queue.frontend(name, ...words);
      case 'gone':
        return queue.clientGone(name);
      case 'unreachable':
      case 'congested':
        return queue.clientUndeliverable(name, verb);
      default:
        throw new Error(`client: unknown verb ${String(verb)}`);
    }
  }

  return (command: ScenarioCommand): readonly string[] => {
    const { name, args } = command;
    switch (name) {
      case 'queue':
        queue = new QueueUnderTest(optionWords(args));
        return [];
      case 'worker':
        return worker(args);
      case 'client':
        return client(args);
      default:
        return engineWords(queue, command);
    }
  };
}
