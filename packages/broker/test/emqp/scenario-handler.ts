/** The commands of the EventMQ broker's scenarios; `src/emqp/scenarios/README.md` lists them for readers. */
import { parseDuration, type ScenarioCommand, type ScenarioHandler } from '@proj/testkit';
import { engineWords, optionWords, peerWords } from '../scenario-words.js';
import { BrokerUnderTest } from './broker-under-test.js';

/** A handler with a broker of its own. */
export function emqpScenario(): ScenarioHandler {
  let broker = new BrokerUnderTest();

  function worker([name = '', verb, ...args]: readonly string[]): string[] {
    const [first = '', second] = args;
    switch (verb) {
      case 'inform':
        return broker.inform(name, ...args);
      case 'ready':
        return broker.ready(name, Number(first === '' ? 1 : first));
      case 'reply':
        return broker.reply(name, first, second);
      case 'heartbeat':
        return broker.heartbeat(name);
      case 'bye':
        return broker.bye(name);
      default:
        throw new Error(`worker: unknown verb ${String(verb)}`);
    }
  }

  function scheduler([name = '', verb]: readonly string[]): string[] {
    switch (verb) {
      case 'inform':
        return broker.scheduler(name);
      case 'heartbeat':
        return broker.heartbeat(name);
      case 'bye':
        return broker.bye(name);
      default:
        throw new Error(`scheduler: unknown verb ${String(verb)}`);
    }
  }

  function client([name = '', verb, id = '', what, headers]: readonly string[]): string[] {
    switch (verb) {
      case 'request':
        return broker.request(name, id, what, headers);
      case 'schedule':
        return broker.schedule(name, id, what);
      case 'unschedule':
        return broker.unschedule(name, id, what);
      default:
        throw new Error(`client: unknown verb ${String(verb)}`);
    }
  }

  return (command: ScenarioCommand): readonly string[] => {
    const { name, args } = command;
    switch (name) {
      case 'broker':
        broker = new BrokerUnderTest(optionWords(args));
        return [];
      case 'worker':
        return worker(args);
      case 'scheduler':
        return scheduler(args);
      case 'client':
        return client(args);
      case 'admin':
        return broker.admin(args[0] ?? '', args[1] ?? '');
      case 'peer':
        return peerWords(broker, args);
      case 'live':
        return broker.live(parseDuration(args[0]), ...args.slice(1));
      default:
        return engineWords(broker, command);
    }
  };
}
