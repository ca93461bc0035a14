/** Plays events to a worker's session and keeps its effects as short lines, checking invariants at each step. No protocol. */
import { passTime } from '@proj/testkit';
import type { Engine, TimerEvent } from '@proj/transport';
import type { WorkerEffect } from '../src/shared/events.js';

/** A message on a socket of the session. */
interface Message<Command> {
  readonly kind: 'message';
  readonly socket: number;
  readonly command: Command;
}

export abstract class WorkerRig<Command, Event, Effect> {
  abstract readonly session: Engine<Event | Message<Command>, Effect>;
  now = 0;
  /** Everything since the last {@link take}. */
  protected lines: string[] = [];

  /** What the other side says to stay alive. */
  protected abstract heartbeat(): Command;
  /** An effect as a line; `undefined` leaves it out. */
  protected abstract describe(effect: Effect): string | undefined;

  step(event: Event | Message<Command> | TimerEvent): void {
    for (const effect of this.session.step(event, this.now)) {
      const line = this.describe(effect);
      if (line !== undefined) this.lines.push(line);
    }
    this.session.assertInvariants();
  }

  /** Delivers events at the present time and returns what they caused, together with all that was not taken before. */
  play(...events: (Event | Message<Command> | TimerEvent)[]): string[] {
    for (const event of events) this.step(event);
    return this.lines;
  }

  receive(socket: number, ...commands: Command[]): string[] {
    return this.play(...commands.map((command) => ({ kind: 'message', socket, command }) as const));
  }

  /** Moves time on, delivering each deadline punctually. */
  advance(ms: number): string[] {
    passTime(this, this.session, ms);
    return this.lines;
  }

  /** Moves time on while the other side goes on beating, `step` milliseconds apart. */
  advanceAlive(socket: number, ms: number, step = 100): string[] {
    for (let passed = 0; passed < ms; passed += step) {
      this.advance(Math.min(step, ms - passed));
      this.receive(socket, this.heartbeat());
    }
    return this.lines;
  }

  /** Returns the lines written so far and begins anew. */
  take(): string[] {
    const { lines } = this;
    this.lines = [];
    return lines;
  }
}

/** A frame of text. */
export const frame = (text: string): Uint8Array => Buffer.from(text);

/** Frames as text. */
export const text = (frames: readonly Uint8Array[], separator = ','): string =>
  frames.map((one) => Buffer.from(one).toString()).join(separator);

/** A note as a line: its code and what it says. */
export function describeNote({ code, ...fields }: { readonly code: string }): string {
  return [`note ${code}`, ...Object.values(fields).map(String)].join(' ');
}

/** An effect as a line, of a session that has one handler. */
export function describeEffect<Command>(
  effect: WorkerEffect<Command, { readonly code: string }>,
  describeCommand: (command: Command) => string,
): string {
  switch (effect.kind) {
    case 'open':
      return `open ${effect.socket} ${effect.endpoint}`;
    case 'send':
      return `send ${effect.socket} ${describeCommand(effect.command)}`;
    case 'close':
      return `close ${effect.socket}${effect.flush ? ' flush' : ''}`;
    case 'run':
      return `run ${effect.job} ${text(effect.body)}`;
    case 'cancel':
      return `cancel ${effect.job} ${effect.reason}`;
    case 'note':
      return describeNote(effect.note);
    case 'ended':
      return 'ended';
  }
}
