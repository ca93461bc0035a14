/** A client and a scripted broker on a network in memory. */
import { A, ClientWorld } from '../world.js';
import { MdpClient } from '../../src/mdp/client.js';
import type { MdpClientOptions } from '../../src/mdp/options.js';
import { ScriptedBroker } from './scripted-broker.js';
import type { Asked } from './scripted-broker.js';

export { A, B, text } from '../world.js';

/** Answers with the body that came. */
export const echo = (asked: Asked): void => {
  asked.final(...asked.request.body);
};

/** Answers nothing. */
export const silence = (): void => {};

/** The world with Majordomo in it. */
export class Stage extends ClientWorld {
  broker(answer: (asked: Asked) => void, endpoint = A, process = endpoint): Promise<ScriptedBroker> {
    return ScriptedBroker.start(this.network.transport(process), endpoint, answer);
  }

  client(options: MdpClientOptions = {}): MdpClient {
    return new MdpClient({ endpoints: [A], transport: this.transport, ...options });
  }
}
