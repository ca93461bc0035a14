/** The commands of the NFP broker's scenarios; `src/nfp/scenarios/README.md` lists them for readers. */
import type { NfpAnswer, NfpCall } from '@proj/frames/nfp';
import { parseDuration, type ScenarioCommand, type ScenarioHandler } from '@proj/testkit';
import { engineWords, optionWords, peerWords } from '../scenario-words.js';
import { BrokerUnderTest } from './broker-under-test.js';

/** A handler with a broker of its own. */
export function nfpScenario(): ScenarioHandler {
  let broker = new BrokerUnderTest();
  const services = new Map<string, string>();

  function worker([name = '', verb, ...args]: readonly string[]): string[] {
    const service = services.get(name) ?? 'sample';
    switch (verb) {
      case 'ready': {
        const [named = 'sample'] = args;
        services.set(name, named);
        return broker.ready(name, named);
      }
      case 'keepalive':
        return broker.keepalive(name, service);
      case 'disconnect':
        return broker.disconnect(name, service);
      case 'open':
        return broker.open(name, parseDuration(args[0]), Number(args[1]));
      case 'response':
      case 'event':
      case 'stream':
      case 'mmi': {
        const [client = '', uuid = '', status = '200', body] = args;
        return broker.answer(name, verb satisfies NfpAnswer, client, uuid, Number(status), body);
      }
      default:
        throw new Error(`worker: unknown verb ${String(verb)}`);
    }
  }

  function client([name = '', verb, ...args]: readonly string[]): string[] {
    switch (verb) {
      case 'post':
      case 'get':
      case 'delete':
      case 'put':
      case 'mmi': {
        const [uuid = '', target, service, body] = args;
        return broker.call(name, verb satisfies NfpCall, uuid, target, service, body);
      }
      case 'asks':
        return broker.mmi(name, args[0] ?? '', JSON.parse(args[1] ?? '{}') as object);
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
      case 'started':
        return broker.started();
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
