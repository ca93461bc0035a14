/** PZQ in `proj decode`: its messages bear no mark, so only what looks like one of them is taken for one. */
import {
  decodePzqAtConsumer,
  decodePzqAtMonitor,
  decodePzqAtProducer,
  decodePzqAtReceive,
  decodePzqAtSend,
} from '@proj/frames/pzq';

type Frames = readonly Uint8Array[];

const KEY = /^\d{16}\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNLIKE = { kind: 'malformed', reason: 'unlike' } as const;

const hasKey = ([key]: Frames): boolean => key !== undefined && KEY.test(Buffer.from(key).toString('latin1'));
const hasStatus = ([, status]: Frames): boolean => status?.length === 1 && (status[0] === 0x30 || status[0] === 0x31);

/** By what a message looks like: a key, a status, the word of the monitor. */
export const PZQ_READERS = [
  {
    protocol: 'pzq',
    receiver: 'producer',
    decode: (frames: Frames) => (hasStatus(frames) ? decodePzqAtProducer(frames) : UNLIKE),
  },
  {
    protocol: 'pzq',
    receiver: 'consumer',
    decode: (frames: Frames) => (hasKey(frames) ? decodePzqAtConsumer(frames) : UNLIKE),
  },
  {
    protocol: 'pzq',
    receiver: 'send socket',
    // A delivery is no acknowledgement with much behind it.
    decode: (frames: Frames) => (hasKey(frames) && frames.length < 3 ? decodePzqAtSend(frames) : UNLIKE),
  },
  { protocol: 'pzq', receiver: 'receive socket', decode: readMessage },
  { protocol: 'pzq', receiver: 'monitor socket', decode: decodePzqAtMonitor },
] as const;

/** Whatever has a blank frame in the middle may be a message to store. */
function readMessage(frames: Frames) {
  const message = decodePzqAtReceive(frames);
  return message.kind === 'unusable' ? UNLIKE : message;
}
