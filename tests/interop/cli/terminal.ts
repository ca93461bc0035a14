/** A pseudo terminal with a program in it; the test types and reads. Created by peers/terminal/run.py. */
import type { PeerGroup, PeerLine } from '@proj/testkit';
import { pythonPeer } from '../python.js';

/** A program in a terminal. */
export interface Terminal {
  readonly pid: Promise<number>;
  /** Types like a keyboard. */
  type(text: string): void;
  resize(columns: number, rows: number): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves when this text is written, after any text awaited before. Escape sequences are ignored. */
  shows(text: string): Promise<void>;
  /** How it ended, and in which modes it left the terminal. */
  readonly ended: Promise<PeerLine>;
}

/** Starts a program, with `TERM=xterm`. */
export function openTerminal(
  { launch }: PeerGroup,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Terminal {
  const flags = { command: JSON.stringify(command), environment: JSON.stringify(environment) };
  const peer = launch(pythonPeer('terminal', 'run', flags));
  let awaited = 0;
  return {
    pid: peer.line('started').then(({ pid }) => pid as number),
    type: (text) => {
      peer.tell({ do: 'type', text });
    },
    resize: (columns, rows) => {
      peer.tell({ do: 'resize', columns, rows });
    },
    signal: (name) => {
      peer.tell({ do: 'signal', name });
    },
    shows: async (text) => {
      const nth = awaited++;
      peer.tell({ do: 'await', text, nth });
      await peer.line('shown', { nth });
    },
    get ended() {
      return peer.line('ended');
    },
  };
}
