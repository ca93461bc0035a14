"""Asks the monitor socket of a queue, on a REQ or a DEALER.

Lines: ready, reply (text).
Commands: {"do": "ask", "frames": [...]} with the frames of a DEALER, or what a REQ puts behind its empty one. A REQ waits for the reply.
"""

import argparse

import zmq

from pzq.wire import demand
from speech import STDIN, Commands, frames_of, say


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--socket", choices=["req", "dealer"], default="req")
    options = parser.parse_args()
    dealer = options.socket == "dealer"
    socket = zmq.Context.instance().socket(zmq.DEALER if dealer else zmq.REQ)
    socket.linger = 0
    socket.connect(options.connect)
    commands = Commands()
    poller = zmq.Poller()
    for source in (STDIN, socket):
        poller.register(source, zmq.POLLIN)
    say("ready")
    while True:
        ready = dict(poller.poll())
        if STDIN in ready:
            for command in commands.read():
                socket.send_multipart(frames_of(command["frames"]))
        if socket in ready:
            frames = socket.recv_multipart()
            demand(not dealer or frames[0] == b"", "no blank in front", frames)
            demand(len(frames) == (2 if dealer else 1), "not one frame of text", frames)
            say("reply", text=frames[-1].decode("ascii"))


if __name__ == "__main__":
    main()
