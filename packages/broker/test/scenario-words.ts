/** Commands that the scenarios of several brokers share. */
import { parseDuration, type ScenarioCommand } from '@proj/testkit';
import type { EngineUnderTest } from './engine-under-test.js';

/** What can happen to a peer besides messages of its protocol. */
interface Reachable {
  gone(name: string): string[];
  undeliverable(name: string, reason: 'unreachable' | 'congested'): string[];
  frames(name: string, ...frames: string[]): string[];
}

/** `advance TIME`, `stall TIME`, `drain`, `dropped`: commands for every engine. */
export function engineWords(
  engine: Pick<EngineUnderTest<never, never, never>, 'advance' | 'stall' | 'drain' | 'dropped'>,
  { name, args }: ScenarioCommand,
): string[] {
  switch (name) {
    case 'advance':
      return engine.advance(parseDuration(args[0]));
    case 'stall':
      return engine.stall(parseDuration(args[0]));
    case 'drain':
      return engine.drain();
    case 'dropped':
      return Object.entries(engine.dropped).map(([reason, count]) => `${reason} ${count}`);
    default:
      throw new Error(`unknown command ${name}`);
  }
}

/** `NAME gone`, `NAME unreachable`, `NAME congested`, `NAME sends FRAMES`. */
export function peerWords(broker: Reachable, [name = '', verb, ...frames]: readonly string[]): string[] {
  switch (verb) {
    case 'gone':
      return broker.gone(name);
    case 'unreachable':
    case 'congested':
      return broker.undeliverable(name, verb);
    case 'sends':
      return broker.frames(name, ...frames);
    default:
      throw new Error(`peer: unknown verb ${String(verb)}`);
  }
}

/** `name=value` words, the values as JSON. */
export function optionWords(words: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    words.map((word) => {
      const [option = '', value = ''] = word.split('=');
      return [option, JSON.parse(value) as unknown];
    }),
  );
}
