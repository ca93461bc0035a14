/** What the scenarios of all brokers on one socket say alike. */

/** What a peer can do that is no message of its protocol. */
interface Reachable {
  gone(name: string): string[];
  undeliverable(name: string, reason: 'unreachable' | 'congested'): string[];
  frames(name: string, ...frames: string[]): string[];
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
