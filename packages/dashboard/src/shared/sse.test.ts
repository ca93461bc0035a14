/** Events from text that comes in any pieces. */
import { describe, expect, it } from 'vitest';
import { EventParser } from './sse.js';

const TEXT =
  ': hello\n\nevent: model\ndata: {"a":\ndata: "b:c"}\n\ndata: x\r\n\r\nevent: lost\n\nevent: delta\ndata:{}\n\n';
const EVENTS = [
  { event: 'model', data: '{"a":\n"b:c"}' },
  { event: 'message', data: 'x' },
  { event: 'delta', data: '{}' },
];

describe('EventParser', () => {
  it.each([1, 2, 3, 7, 1000])('reads the same events in pieces of %d characters', (size) => {
    const parser = new EventParser();
    const events = Array.from({ length: Math.ceil(TEXT.length / size) }, (_, at) =>
      parser.push(TEXT.slice(at * size, (at + 1) * size)),
    ).flat();
    expect(events).toEqual(EVENTS);
  });

  it('keeps an event that is not complete', () => {
    const parser = new EventParser();
    expect(parser.push('data: 1\n')).toEqual([]);
    expect(parser.push('\n')).toEqual([{ event: 'message', data: '1' }]);
  });
});
