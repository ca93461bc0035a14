/** The form of the publish-subscribe cases, and what they need from an implementation. */
import type { Transport } from '../port.js';
import { PubSubRig } from './pubsub-rig.js';
import type { PortSubject } from './rig.js';
import type { ComplianceCase } from './suite.js';

/** What these cases need from an implementation; all of them apply to each. */
export type PubSubSubject = Pick<PortSubject, 'endpoint' | 'ownEndpoint'> & {
  /** The transport of one process. May return the same one each time, or a new one on the same network. */
  transport(): Transport;
};

/** A case before it meets its subject. */
export interface PubSubCase {
  readonly name: string;
  readonly run: (rig: PubSubRig) => Promise<void>;
}

/** Binds a definition to a subject; sockets are closed whatever happens. */
export function bindPubSubCase({ name, run }: PubSubCase, subject: PubSubSubject): ComplianceCase {
  return {
    name,
    applies: true,
    run: async () => {
      const rig = new PubSubRig(subject);
      try {
        await run(rig);
      } finally {
        await rig.close();
      }
    },
  };
}
