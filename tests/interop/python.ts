/** Peers in Python, for all protocols: modules in the folder peers/, run by Debian's python3 with python3-zmq. */
import { fileURLToPath } from 'node:url';
import type { PeerSpec } from '@proj/testkit';

const PEERS = fileURLToPath(new URL('peers', import.meta.url));

/** The command that starts `peers/<protocol>/<role>.py` with these flags; `undefined` flags are left out. */
export function pythonPeer(
  protocol: string,
  role: string,
  flags: Readonly<Record<string, string | number | undefined>>,
): PeerSpec {
  const args = Object.entries(flags).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}`, value.toString()],
  );
  return {
    name: `python ${role}`,
    command: process.env['PROJ_PYTHON'] ?? '/usr/bin/python3',
    args: ['-B', '-m', `${protocol}.${role}`, ...args],
    cwd: PEERS,
  };
}
