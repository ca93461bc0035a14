/** Turns the events of the queue into log lines. */
import { logOfPeer } from '@proj/appkit';
import type { Logger } from '@proj/appkit';
import type { PzqServer } from '@proj/pzq';

/** Logs a failing or damaged store as an error, dead letters and notes as warnings. */
export function logEvents(queue: PzqServer, log: Logger): void {
  queue.on('refusing', ({ code }) => {
    log.error({ code }, 'refusing');
  });
  queue.on('resumed', () => {
    log.info('resumed');
  });
  queue.on('corrupt', ({ what }) => {
    log.error({ what }, 'corrupt');
  });
  queue.on('dead-letter', ({ kind, ...fields }) => {
    logOfPeer(log, 'warn', fields, kind, undefined);
  });
  queue.on('note', ({ kind: _kind, code, ...rest }) => {
    const { peer, ...fields } = 'peer' in rest ? rest : { ...rest, peer: undefined };
    // Routing ids are arbitrary bytes, so they are shown in hex, as in the other tools.
    const shown = peer === undefined ? fields : { peer: Buffer.from(peer.id).toString('hex'), ...fields };
    logOfPeer(log, 'warn', shown, code, undefined);
  });
}
