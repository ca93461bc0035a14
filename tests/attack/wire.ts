/** ZMTP 3.1 written by hand, without the checks of `@proj/zmtp`: anything that an attacker may send. */

const MORE = 1;
const LONG = 2;
const COMMAND = 4;
const SHORT_MAX = 255;

/** What a peer without security sends first. */
export const GREETING: Uint8Array = Buffer.concat([
  Buffer.from('ff00000000000000007f0301', 'hex'),
  Buffer.from('NULL'),
  Buffer.alloc(48),
]);

/** Flags and size of a frame, in nine bytes, whatever follows. */
export function longHeader(flags: number, size: bigint): Buffer {
  const header = Buffer.alloc(9, flags | LONG);
  header.writeBigUInt64BE(size, 1);
  return header;
}

/** A correct frame. */
export function frame(body: Uint8Array | string, flags = 0): Buffer {
  const bytes = Buffer.from(body);
  const header =
    bytes.length > SHORT_MAX ? longHeader(flags, BigInt(bytes.length)) : Buffer.from([flags, bytes.length]);
  return Buffer.concat([header, bytes]);
}

/** One frame of a message with more frames to follow. */
export function frameAndMore(body: Uint8Array | string): Buffer {
  return frame(body, MORE);
}

/** A message of these frames. */
export function message(frames: readonly (Uint8Array | string)[]): Buffer {
  return Buffer.concat(frames.map((body, index) => frame(body, index < frames.length - 1 ? MORE : 0)));
}

/** A command. */
export function command(name: string, data: Uint8Array | string = ''): Buffer {
  return frame(Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from(data)]), COMMAND);
}

/** What a socket announces about itself. */
export function ready(socketType: string, identity: Uint8Array | string = ''): Buffer {
  return command('READY', Buffer.concat([property('Socket-Type', socketType), property('Identity', identity)]));
}

function property(name: string, value: Uint8Array | string): Buffer {
  const bytes = Buffer.from(value);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), size, bytes]);
}

/** Accepts bytes in any pieces and returns messages; commands are only counted. */
export class MessageSplitter {
  commands = 0;
  #pending = Buffer.alloc(0);
  #frames: Buffer[] = [];
  #greeting = true;

  /** The messages that these bytes complete. */
  read(bytes: Buffer): Buffer[][] {
    let rest = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const messages: Buffer[][] = [];
    if (this.#greeting && rest.length >= GREETING.length) {
      this.#greeting = false;
      rest = rest.subarray(GREETING.length);
    }
    while (!this.#greeting && rest.length > 1) {
      const flags = rest[0]!;
      const start = flags & LONG ? 9 : 2;
      if (rest.length < start) break;
      const end = start + (flags & LONG ? Number(rest.readBigUInt64BE(1)) : rest[1]!);
      if (rest.length < end) break;
      if ((flags & COMMAND) !== 0) this.commands++;
      else {
        this.#frames.push(rest.subarray(start, end));
        if ((flags & MORE) === 0) messages.push(this.#frames.splice(0));
      }
      rest = rest.subarray(end);
    }
    this.#pending = Buffer.from(rest);
    return messages;
  }
}
