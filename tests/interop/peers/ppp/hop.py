"""A hop between clients and a queue: a ROUTER for those in front, a DEALER to what is behind, and nothing but ZeroMQ's proxy.

Line: listening (endpoint).
"""

import argparse
import threading

import zmq

from speech import Commands, say


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    options = parser.parse_args()
    context = zmq.Context.instance()
    front = context.socket(zmq.ROUTER)
    front.bind("tcp://127.0.0.1:*")
    behind = context.socket(zmq.DEALER)
    behind.connect(options.connect)
    say("listening", endpoint=front.last_endpoint.decode())
    threading.Thread(target=zmq.proxy, args=(front, behind), daemon=True).start()
    commands = Commands()
    while True:
        commands.read()


if __name__ == "__main__":
    main()
