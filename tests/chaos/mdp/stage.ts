/** Majordomo with real processes: proj-broker, proj-workers, and counting clients in the test. */
import type { MdpVersion } from '@proj/frames/mdp';
import type { PeerProcess } from '@proj/testkit';
import { BEATS, testPeers } from '../test-peers.js';
import type { TestPeers } from '../test-peers.js';
import { program } from '../programs.js';
import type { Flags } from '../programs.js';
import { CountingClient } from './raw-peer.js';

/** A broker process and where it listens. */
export interface RunningBroker {
  readonly broker: PeerProcess;
  readonly endpoint: string;
}

/** Starts processes that end with their test. */
export interface Stage extends TestPeers {
  broker(flags?: Flags): Promise<RunningBroker>;
  client(endpoint: string, version?: MdpVersion): Promise<CountingClient>;
}

/** A stage for the tests of the calling file. */
export function stage(): Stage {
  const { launch, worker, keep } = testPeers();
  return {
    launch,
    worker,
    keep,
    async broker(flags) {
      const broker = launch(program('broker', { only: 'mdp', mdp: 'tcp://127.0.0.1:*', ...BEATS, ...flags }));
      const { endpoints } = await broker.line('listening');
      return { broker, endpoint: (endpoints as { readonly mdp: string }).mdp };
    },
    client: async (endpoint, version) => keep(await CountingClient.connect(endpoint, 'echo', version)),
  };
}
