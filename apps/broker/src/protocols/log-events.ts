/** Turns the events of a broker into log lines, the same for every protocol with workers. */
import { logOfPeer } from '@proj/appkit';
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

/** The events of a broker facade that are logged; `Notice` are those for peers that join or leave. */
export interface Talkative<Notice extends string> {
  on(event: Notice, listener: (notice: PeerNotice) => void): unknown;
  on(event: 'note', listener: (note: Note) => void): unknown;
}

/** Joining and leaving in protocols where all registered peers are workers. */
export const WORKER_NOTICES = ['worker-ready', 'worker-lost'] as const;

/** Logs joining and leaving peers at level info, and notes as warnings. */
export function logEvents<Notice extends string>(
  broker: Talkative<Notice>,
  notices: readonly Notice[],
  log: Logger,
): void {
  const logNotice = ({ kind, peer, ...fields }: PeerNotice) => {
    const named = fieldsOf(peer);
    logOfPeer(log, 'info', { ...named, ...fields }, kind, `${kind} ${named.peer}`);
  };
  for (const notice of notices) broker.on(notice, logNotice);
  broker.on('note', ({ kind: _kind, code, peer, ...fields }) => {
    // The engine has already limited notes by reason and peer.
    logOfPeer(log, 'warn', peer === undefined ? fields : { ...fieldsOf(peer), ...fields }, code, undefined);
  });
}

/**
 * Routing ids are arbitrary bytes, so they are shown in hex, as in the other tools. Readable ones, such as NORFAB's names, are also shown
 * as text.
 */
function fieldsOf({ id }: Peer): { readonly peer: string; readonly peerName?: string } {
  const bytes = Buffer.from(id);
  const peer = bytes.toString('hex');
  const text = bytes.toString('latin1');
  return /^[\x21-\x7e]+$/.test(text) ? { peer, peerName: text } : { peer };
}
