import { describe, expect, it } from 'vitest';
import { LogSink } from './log-sink.js';

/** A descriptor with room for this many bytes. */
class Pipe {
  text = '';
  room = Infinity;

  readonly write = (bytes: Uint8Array): number => {
    if (this.room === 0) throw Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' });
    const taken = bytes.subarray(0, this.room);
    this.room -= taken.length;
    this.text += Buffer.from(taken).toString();
    return taken.length;
  };
}

function sinkOf(pipe: Pipe): LogSink {
  return new LogSink(1, (dropped) => `dropped ${dropped}\n`, pipe.write);
}

describe('a log sink', () => {
  it('writes at once', () => {
    const pipe = new Pipe();
    sinkOf(pipe).write('one\n');
    expect(pipe.text).toBe('one\n');
  });

  it('drops what does not fit, and reports how much as soon as there is room', () => {
    const pipe = new Pipe();
    const sink = sinkOf(pipe);
    pipe.room = 0;
    for (const line of ['one\n', 'two\n', 'three\n']) sink.write(line);
    expect(sink.dropped).toBe(3);
    pipe.room = Infinity;
    sink.write('four\n');
    expect(pipe.text).toBe('dropped 3\nfour\n');
    expect(sink.dropped).toBe(0);
    sink.write('five\n');
    expect(pipe.text).toBe('dropped 3\nfour\nfive\n');
  });

  it('never leaves a line half written', () => {
    const pipe = new Pipe();
    const sink = sinkOf(pipe);
    pipe.room = 2;
    sink.write('one\n');
    pipe.room = 1;
    sink.write('lost\n');
    pipe.room = Infinity;
    sink.write('three\n');
    expect(pipe.text).toBe('one\ndropped 1\nthree\n');
  });

  it('keeps counting while only the report fits', () => {
    const pipe = new Pipe();
    const sink = sinkOf(pipe);
    pipe.room = 0;
    sink.write('one\n');
    pipe.room = 10;
    sink.write('two\n');
    expect([pipe.text, sink.dropped]).toEqual(['dropped 1\n', 1]);
    pipe.room = Infinity;
    sink.write('three\n');
    expect(pipe.text).toBe('dropped 1\ndropped 1\nthree\n');
  });
});
