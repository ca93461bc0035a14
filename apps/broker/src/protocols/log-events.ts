/** What a broker tells, as log lines: the same for every protocol with workers. */
import type { Logger } from '@proj/appkit';
import type { Peer } from '@proj/transport';

interface PeerNotice {
  readonly kind: string;
  readonly peer: Peer;
}

interface Note {
  readonly kind: string;
  readonly code: string;
  readonly peer?: Peer;
}

/** The events of a broker facade that are worth a line. */
export interface Talkative {
  on(event: 'worker-ready' | 'worker-lost', listener: (notice: PeerNotice) => void): unknown;
  on(event: 'note', listener: (note: Note) => void): unknown;
}

/** Logs who comes and goes at level info, and notes as warnings. */
export function logEvents(broker: Talkative, log: Logger): void {
  const logNotice = ({ kind, peer, ...fields }: PeerNotice) => {
    log.info({ peer: hex(peer), ...fields }, kind);
  };
  broker.on('worker-ready', logNotice);
  broker.on('worker-lost', logNotice);
  broker.on('note', ({ kind: _kind, code, peer, ...fields }) => {
    log.warn(peer === undefined ? fields : { peer: hex(peer), ...fields }, code);
  });
}

/** Routing ids are any bytes; hex is what the rest of the tools shows as well. */
function hex(peer: Peer): string {
  return Buffer.from(peer.id).toString('hex');
}
