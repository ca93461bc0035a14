"""A terminal with a program in it, such as a shell or `proj top`: a pseudo terminal of the system, with a size, keys and signals.

Lines: shown (nth) when a text that was awaited has come, ended (code, echo, canonical, tail): the modes of the terminal and the last
output, escape sequences included.
Commands: {"do": "type", "text": ...}, {"do": "resize", "columns": ..., "rows": ...}, {"do": "signal", "name": "SIGTERM"},
{"do": "await", "text": ..., "nth": ...}: the text in what was written since the last one that was awaited, without escape sequences.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

from speech import STDIN, Commands, say

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[=>()][0-9A-Z]?")
TAIL = 200


class Terminal:
    def __init__(self, options):
        self.master, self.slave = pty.openpty()
        self.resize(options.columns, options.rows)
        environment = {**os.environ, "TERM": "xterm", **json.loads(options.environment)}
        self.process = subprocess.Popen(
            json.loads(options.command),
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.awaited = []
        self.raw = ""
        self.tail = ""

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def obey(self, command):
        what = command["do"]
        if what == "type":
            os.write(self.master, command["text"].encode())
        elif what == "resize":
            self.resize(command["columns"], command["rows"])
        elif what == "signal":
            self.process.send_signal(signal.Signals[command["name"]])
        elif what == "await":
            self.awaited.append((command["text"], command["nth"]))
            self.look()

    def look(self):
        while self.awaited:
            text, nth = self.awaited[0]
            shown = ESCAPE.sub("", self.raw)
            at = shown.find(text)
            if at < 0:
                return
            self.raw = shown[at + len(text) :]
            self.awaited.pop(0)
            say("shown", nth=nth)

    def read(self):
        text = os.read(self.master, 1 << 16).decode(errors="replace")
        self.raw += text
        self.tail = (self.tail + text)[-TAIL:]
        self.look()

    def has_output(self, seconds):
        return bool(select.select([self.master], [], [], seconds)[0])

    def run(self):
        commands = Commands()
        say("started", pid=self.process.pid)
        while self.process.poll() is None:
            ready, _, _ = select.select([STDIN, self.master], [], [], 0.1)
            if STDIN in ready:
                for command in commands.read():
                    self.obey(command)
            if self.master in ready:
                self.read()
        while self.has_output(0):
            self.read()
        modes = termios.tcgetattr(self.slave)[3]
        code = self.process.returncode
        say(
            "ended",
            code=code,
            echo=bool(modes & termios.ECHO),
            canonical=bool(modes & termios.ICANON),
            tail=self.tail,
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True, help="a list of words as JSON")
    parser.add_argument("--environment", default="{}", help="variables as JSON")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=30)
    Terminal(parser.parse_args()).run()


main()
