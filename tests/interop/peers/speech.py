"""How a peer talks to the tests: lines of JSON, its own on standard output, their commands on standard input."""

import json
import os
import sys

STDIN = 0


def say(msg, **fields):
    """Writes one line; bytes and lists of bytes as hex."""
    print(json.dumps({"msg": msg, **fields}, default=bytes.hex), flush=True)


class Commands:
    """What the tests command. The end of standard input, which is the end of the tests, ends the process."""

    def __init__(self):
        self._rest = b""

    def read(self):
        """The commands that have arrived since, at least one; waits for them if there are none."""
        commands = []
        while not commands:
            chunk = os.read(STDIN, 1 << 20)
            if not chunk:
                sys.exit(0)
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            commands = [json.loads(line) for line in lines]
        return commands


def frames_of(texts):
    """Frames out of a command, where they are hex."""
    return [bytes.fromhex(text) for text in texts]
