"""A SUB socket that says every message that comes, frames as hex. No protocol.

Lines: listening, message.
"""

import argparse

import zmq

from speech import STDIN, Commands, say


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--prefix", default="", help="hex")
    options = parser.parse_args()
    socket = zmq.Context.instance().socket(zmq.SUB)
    socket.subscribe(bytes.fromhex(options.prefix))
    socket.connect(options.connect)
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    poller.register(socket, zmq.POLLIN)
    commands = Commands()
    say("listening")
    while True:
        ready = dict(poller.poll())
        if socket in ready:
            say("message", frames="|".join(frame.hex() for frame in socket.recv_multipart()))
        if STDIN in ready:
            commands.read()


if __name__ == "__main__":
    main()
