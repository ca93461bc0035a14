"""An NFP client. It sends what it is told to, and says every answer that comes.

Commands:
    {"do": "POST", "service": "sample", "target": "all", "uuid": "u1", "body": "{}"}, and so for GET, DELETE, PUT, MMI
    {"do": "OPEN", "body": "{}"}

Lines: listening; open; answer, with what it is an answer to.
"""

import argparse

import zmq

from nfp.wire import ANSWERS, Wire, demand
from speech import STDIN, Commands, say


def on_message(wire, frames):
    command, rest = wire.read(frames)
    if command == "OPEN":
        demand(len(rest) == 1, "OPEN has one body", frames)
        say("open", body=rest[0].decode())
        return
    demand(command in ANSWERS, f"{command} never travels to a client", frames)
    demand(len(rest) >= 4, "service, uuid, status or body is missing", frames)
    service, uuid, status, *body = rest
    say(
        "answer",
        command=command,
        service=service.decode(),
        uuid=uuid.decode(),
        status=status.decode(),
        body=b"|".join(body).decode(),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    parser.add_argument("--name", default="client")
    parser.add_argument("--form", choices=["ascii", "byte"], default="ascii")
    parser.add_argument("--dialect", choices=["current", "legacy"], default="current")
    options = parser.parse_args()
    wire = Wire("client", options.form, options.dialect)
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 1000
    socket.sndhwm = socket.rcvhwm = 0
    socket.routing_id = options.name.encode()
    socket.connect(options.connect)
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    poller.register(socket, zmq.POLLIN)
    commands = Commands()
    say("listening")
    while True:
        ready = dict(poller.poll())
        if socket in ready:
            on_message(wire, socket.recv_multipart())
        if STDIN in ready:
            for command in commands.read():
                names = ("body",) if command["do"] == "OPEN" else ("service", "target", "uuid", "body")
                socket.send_multipart(wire.message(command["do"], *(command[name].encode() for name in names)))


if __name__ == "__main__":
    main()
