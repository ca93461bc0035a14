/** The terminal that `proj top` draws in: a screen of its own, keys as they are typed, and everything as before when it ends, however it ends. */
import { constants } from 'node:os';
import type { Size } from './screen.js';

// The alternate screen, without a cursor, and without breaking lines at its edge.
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';

/** What a terminal tells. */
export interface TerminalListener {
  readonly onTyped: (text: string) => void;
  /** All must be drawn again. */
  readonly onChanged: () => void;
}

/** Whether there is a terminal to draw in and to type at. */
export function hasTerminal(): boolean {
  return process.stdout.isTTY && process.stdin.isTTY;
}

/** The terminal of this process while it is drawn in. */
export class DrawnTerminal implements Disposable {
  readonly #listener: TerminalListener;
  #isOpen = false;

  constructor(listener: TerminalListener) {
    this.#listener = listener;
    process.stdin.setEncoding('utf8').on('data', this.#typed);
    process.stdout.on('resize', this.#changed);
    process.on('SIGCONT', this.#continued);
    // Each way to end: by itself, by a bug, whose message must stay on the screen, and by signals that tell nobody.
    process.on('exit', this.#leave);
    process.on('uncaughtExceptionMonitor', this.#leave);
    process.on('SIGHUP', this.#killed);
    process.on('SIGQUIT', this.#killed);
    this.#enter();
  }

  /** Characters, as it is now. */
  get size(): Size {
    // Terminals that do not know their size say 0.
    return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
  }

  /** Shows these lines in place of all others. */
  draw(lines: readonly string[]): void {
    if (this.#isOpen) process.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`);
  }

  /** Gives the terminal back. */
  [Symbol.dispose](): void {
    this.#leave();
    process.stdin.off('data', this.#typed).pause();
    process.stdout.off('resize', this.#changed);
    process.off('SIGCONT', this.#continued);
    process.off('exit', this.#leave);
    process.off('uncaughtExceptionMonitor', this.#leave);
    process.off('SIGHUP', this.#killed);
    process.off('SIGQUIT', this.#killed);
  }

  #enter(): void {
    this.#isOpen = true;
    process.stdin.setRawMode(true).resume();
    process.stdout.write(ENTER);
  }

  readonly #leave = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.stdin.setRawMode(false);
    process.stdout.write(LEAVE);
  };

  readonly #typed = (text: string): void => {
    this.#listener.onTyped(text);
  };

  readonly #changed = (): void => {
    this.#listener.onChanged();
  };

  /** Whatever stopped it may have used the terminal meanwhile. */
  readonly #continued = (): void => {
    this.#leave();
    this.#enter();
    this.#listener.onChanged();
  };

  readonly #killed = (signal: NodeJS.Signals): void => {
    process.exit(128 + constants.signals[signal]);
  };
}
