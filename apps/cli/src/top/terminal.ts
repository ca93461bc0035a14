/** The terminal that `proj top` draws in: its own screen, keys as they are typed, and everything restored at the end, however it ends. */
import { constants } from 'node:os';
import type { Size } from './screen.js';

// The alternate screen, without a cursor and without line wrapping.
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';

/** Events of a terminal. */
export interface TerminalListener {
  readonly onTyped: (text: string) => void;
  /** Everything must be redrawn. */
  readonly onChanged: () => void;
}

/** Whether there is a terminal to draw in and to type at. */
export function hasTerminal(): boolean {
  return process.stdout.isTTY && process.stdin.isTTY;
}

/** The terminal of this process while the screen is shown. */
export class DrawnTerminal implements Disposable {
  readonly #listener: TerminalListener;
  #isOpen = false;

  constructor(listener: TerminalListener) {
    this.#listener = listener;
    process.stdin.setEncoding('utf8').on('data', this.#typed);
    process.stdout.on('resize', this.#changed);
    process.on('SIGCONT', this.#continued);
    // Every way to end: normally, by a bug, whose message must stay on the screen, and by signals without other notice.
    process.on('exit', this.#leave);
    process.on('uncaughtExceptionMonitor', this.#leave);
    process.on('SIGHUP', this.#killed);
    process.on('SIGQUIT', this.#killed);
    this.#enter();
  }

  /** Its current size in characters. */
  get size(): Size {
    // Terminals that do not know their size report 0.
    return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
  }

  /** Replaces all lines on the screen. */
  draw(lines: readonly string[]): void {
    if (this.#isOpen) process.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`);
  }

  /** Restores the terminal. */
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

  /** Another program may have used the terminal while this one was stopped. */
  readonly #continued = (): void => {
    this.#leave();
    this.#enter();
    this.#listener.onChanged();
  };

  readonly #killed = (signal: NodeJS.Signals): void => {
    process.exit(128 + constants.signals[signal]);
  };
}
