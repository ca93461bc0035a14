/** The commands of the Majordomo broker's scenarios; `src/mdp/scenarios/README.md` lists them for readers. */
import type { ScenarioCommand, ScenarioHandler } from '@proj/testkit';
import { engineWords, optionWords, peerWords } from '../scenario-words.js';
import { BrokerUnderTest, type Framing } from './broker-under-test.js';

/** A handler with a broker of its own. */
export function mdpScenario(): ScenarioHandler {
  let broker = new BrokerUnderTest();
  const versions = new Map<string, Framing>();

  function worker([name = '', verb, ...args]: readonly string[]): string[] {
    if (verb === 'ready') {
      const [service, version = '0.2'] = args;
      versions.set(name, version as Framing);
      return broker.ready(name, service, version as Framing);
    }
    const version = versions.get(name) ?? '0.2';
    const [client = '', body = ''] = args;
    switch (verb) {
      case 'heartbeat':
        return broker.heartbeat(name, version);
      case 'disconnect':
        return broker.disconnect(name, version);
      case 'partial':
        return broker.partial(name, client, body);
      case 'final':
        return broker.final(name, client, body, version);
      default:
        throw new Error(`worker: unknown verb ${String(verb)}`);
    }
  }

  function client([name = '', verb, service, body = '', version = '0.2']: readonly string[]): string[] {
    if (verb !== 'request') throw new Error(`client: unknown verb ${String(verb)}`);
    return broker.request(name, body, service, version as Framing);
  }

  /** `run 1 final "x"`: a handler inside the broker. */
  function run([number, verb, body = '']: readonly string[]): string[] {
    switch (verb) {
      case 'partial':
        return broker.ownPartial(Number(number), body);
      case 'final':
        return broker.ownFinal(Number(number), body);
      case 'fails':
        return broker.ownFailed(Number(number));
      default:
        throw new Error(`run: unknown verb ${String(verb)}`);
    }
  }

  return (command: ScenarioCommand): readonly string[] => {
    const { name, args } = command;
    switch (name) {
      case 'broker':
        broker = new BrokerUnderTest(optionWords(args));
        return [];
      case 'serve':
        return broker.serve(args[0] ?? '', Number(args[1] ?? 1));
      case 'withdraw':
        return broker.withdraw(Number(args[0]));
      case 'run':
        return run(args);
      case 'worker':
        return worker(args);
      case 'client':
        return client(args);
      case 'peer':
        return peerWords(broker, args);
      default:
        return engineWords(broker, command);
    }
  };
}
