"""A hop between clients and a queue: a ROUTER for those in front, a DEALER to what is behind, and nothing but ZeroMQ's proxy.

Lines: listening (endpoint, and behind where it binds there, too, because no --connect is given).
"""

import argparse
import threading

import zmq

from speech import Commands, say


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect")
    options = parser.parse_args()
    context = zmq.Context.instance()
    front = context.socket(zmq.ROUTER)
    front.bind("tcp://127.0.0.1:*")
    behind = context.socket(zmq.DEALER)
    if options.connect:
        behind.connect(options.connect)
    else:
        behind.bind("tcp://127.0.0.1:*")
    say("listening", endpoint=front.last_endpoint.decode(), behind=behind.last_endpoint.decode())
    threading.Thread(target=zmq.proxy, args=(front, behind), daemon=True).start()
    commands = Commands()
    while True:
        commands.read()


if __name__ == "__main__":
    main()
