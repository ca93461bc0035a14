/** PZQ messages as text, for traces. */
import { latin1 } from '@proj/frames';
import {
  decodePzqAtConsumer,
  decodePzqAtProducer,
  decodePzqAtReceive,
  decodePzqAtSend,
  decodePzqKey,
} from '@proj/frames/pzq';
import type { MessageEvent } from '@proj/transport/virtual';
import { messageId } from './sight.js';

/** One message as a line. */
export function describeMessage({ frames }: MessageEvent): string {
  const delivery = decodePzqAtConsumer(frames);
  if (delivery.kind === 'delivery') return `deliver #${seqOf(delivery.key)} ${messageId(delivery.body)}`;
  const answer = decodePzqAtSend(frames);
  if (answer.kind === 'consumer-ack' && seqOf(answer.key) !== '?')
    return `${answer.positive ? 'ack' : 'nack'} #${seqOf(answer.key)}`;
  const ack = decodePzqAtProducer(frames);
  if (ack.kind === 'producer-ack')
    return `answer ${latin1(ack.id).slice(0, 8)} ${ack.stored ? '1' : `0 ${ack.reason}`}`;
  const produce = decodePzqAtReceive(frames);
  return produce.kind === 'produce'
    ? `produce ${latin1(produce.id).slice(0, 8)} ${messageId(produce.body)}`
    : produce.kind;
}

function seqOf(key: Uint8Array): string {
  return decodePzqKey(key)?.seq.toString() ?? '?';
}
