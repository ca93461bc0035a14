"""A client or an admin. It sends what it is told to, and says every answer that comes. Its routing id is libzmq's own: no text.

Lines: listening; reply, an acceptance or a result; ack; answer; bye (KBAI or KBYE).
Commands: {"do": "say", "word": "REQUEST", "id": "m1", "rest": ["default", "", "..."]}, or frames as hex: {"do": "send", "frames": ["", "ff"]}.
"""

import argparse

import zmq

from emqp.wire import message, read
from speech import STDIN, Commands, frames_of, say


def on_message(role, frames):
    command, _, rest = read(role, frames)
    texts = [frame.decode() for frame in rest]
    if command == "ACK":
        say("ack", of=texts[0])
    elif command in ("KBAI", "KBYE"):
        say("bye", word=command)
    elif role == "admin":
        say("answer", text=texts[0])
    else:
        say("reply", of=texts[-1], result=texts[0] if len(texts) == 2 else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--role", choices=["client", "admin"], default="client")
    options = parser.parse_args()
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 1000
    socket.sndhwm = socket.rcvhwm = 0
    socket.connect(options.connect)
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    poller.register(socket, zmq.POLLIN)
    commands = Commands()
    say("listening")
    while True:
        ready = dict(poller.poll())
        if socket in ready:
            on_message(options.role, socket.recv_multipart())
        if STDIN in ready:
            for command in commands.read():
                if command["do"] == "send":
                    socket.send_multipart(frames_of(command["frames"]))
                else:
                    rest = [text.encode() for text in command["rest"]]
                    socket.send_multipart(message(command["word"], *rest, id=command["id"].encode()))


if __name__ == "__main__":
    main()
