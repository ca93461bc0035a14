/** What the queue tells, as log lines. */
import { logOfPeer } from '@proj/appkit';
import type { Logger } from '@proj/appkit';
import type { PzqServer } from '@proj/pzq';

/** Logs a store that fails or is damaged as an error, messages that are given up and notes as warnings. */
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
    // Routing ids are any bytes; hex is what the rest of the tools shows as well.
    const shown = peer === undefined ? fields : { peer: Buffer.from(peer.id).toString('hex'), ...fields };
    logOfPeer(log, 'warn', shown, code, undefined);
  });
}
