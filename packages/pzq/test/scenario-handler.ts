/** The commands of the PZQ engine's scenarios; `src/scenarios/README.md` lists them for readers. */
import { fromLatin1 } from '@proj/frames';
import { parseDuration, type ScenarioCommand, type ScenarioHandler } from '@proj/testkit';
import type { PzqSettings } from '../src/options.js';
import { peerNamed, QueueUnderTest } from './queue-under-test.js';

/** A handler with a queue of its own. */
export function pzqScenario(): ScenarioHandler {
  let queue = new QueueUnderTest();

  function consumer([verb, ...args]: readonly string[]): string[] {
    switch (verb) {
      case 'takes':
        return queue.accept(Number(args[0]));
      case 'acks':
        return queue.ack(sequence(args[0]), true);
      case 'nacks':
        return queue.ack(sequence(args[0]), false);
      case 'extends':
        return queue.extend(sequence(args[0]));
      case 'sends':
        return queue.consumer({ kind: 'consumer-ack', key: fromLatin1(args[0] ?? ''), positive: args[1] === '1' });
      default:
        throw new Error(`consumer: unknown verb ${String(verb)}`);
    }
  }

  function store([verb, code]: readonly string[]): string[] {
    switch (verb) {
      case 'fails':
        queue.store.failing = code;
        return [];
      case 'works':
        queue.store.failing = undefined;
        return [];
      case 'waits':
        queue.storeHeld = true;
        return [];
      case 'answers':
        queue.storeHeld = false;
        return queue.answerStore();
      case 'holds':
        return Object.entries(queue.store.counts).flatMap(([name, value]) =>
          ['messages', 'delayed', 'dead'].includes(name) ? [`${name} ${value}`] : [],
        );
      default:
        throw new Error(`store: unknown verb ${String(verb)}`);
    }
  }

  return ({ name, args }: ScenarioCommand): readonly string[] => {
    switch (name) {
      case 'queue':
        queue = new QueueUnderTest(optionsFrom(args));
        return [];
      case 'producer':
        return queue.produceFrames(args[0] ?? '', args.slice(2));
      case 'consumer':
        return consumer(args);
      case 'store':
        return store(args);
      case 'dead':
        return queue.step(
          args[0] === 'return'
            ? { kind: 'revive', id: 1, seqs: [sequence(args[1])] }
            : { kind: 'discard', id: 1, letters: queue.store.dead(sequence(args[1]) - 1, 1, 1) },
        );
      case 'monitor':
        return queue.step({ kind: 'monitor', peer: peerNamed('m'), command: { kind: 'monitor-request' } });
      case 'advance':
        return queue.advance(parseDuration(args[0]));
      case 'stall':
        return queue.stall(parseDuration(args[0]));
      case 'kill':
        return queue.restart();
      case 'drain':
        return queue.step({ kind: 'drain' });
      case 'dropped':
        return Object.entries(queue.dropped).map(([reason, count]) => `${reason} ${count}`);
      default:
        throw new Error(`unknown command ${name}`);
    }
  };
}

function sequence(word = ''): number {
  const [, number] = /^#(\d+)$/.exec(word) ?? [];
  if (number === undefined) throw new Error(`${word} is no message, such as #1`);
  return Number(number);
}

function optionsFrom(words: readonly string[]): Partial<PzqSettings> {
  return Object.fromEntries(
    words.map((word) => word.split('=')).map(([name, value]) => [name, JSON.parse(value ?? '') as unknown]),
  ) as Partial<PzqSettings>;
}
