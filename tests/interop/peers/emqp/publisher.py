"""A publisher: it sends PUBLISH as it is told to, on a DEALER, and expects no answer. Topic and body are hex.

Lines: listening.
Commands: {"do": "publish", "topic": "6e657773", "body": "00ff"}, with "headers": "..." for the seven frames of the text.
"""

import argparse

import zmq

from emqp.wire import message
from speech import STDIN, Commands, say


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    options = parser.parse_args()
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 1000
    socket.connect(options.connect)
    commands = Commands()
    say("listening")
    while True:
        for command in commands.read():
            headers = [command["headers"].encode()] if "headers" in command else []
            topic, body = bytes.fromhex(command["topic"]), bytes.fromhex(command["body"])
            socket.send_multipart(message("PUBLISH", topic, *headers, body))


if __name__ == "__main__":
    main()
