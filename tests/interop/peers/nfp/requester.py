"""An NFP client as the text recommends it: a REQ socket, commands of one byte, one answer to each request. It says every answer that comes.

Commands, done one after the other, each when the one before is answered:
    {"do": "POST", "service": "sample", "target": "all", "uuid": "u1", "body": "{}"}, and so for GET and DELETE, and for what no client may send

Lines: listening; answer, with what it is an answer to.
"""

import argparse

import zmq

from nfp.wire import Wire, demand
from speech import STDIN, Commands, say

CLIENT_STATUSES = (b"200", b"202", b"300", b"400", b"408", b"417", b"500")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--connect", required=True)
    options = parser.parse_args()
    wire = Wire("client", "byte", "current")
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.linger = 0
    socket.connect(options.connect)
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    commands = Commands()
    say("listening")
    while True:
        poller.poll()
        for command in commands.read():
            names = ("service", "target", "uuid", "body")
            empty, *request = wire.message(command["do"], *(command[name].encode() for name in names))
            demand(empty == b"", "REQ makes the empty frame itself", request)
            socket.send_multipart(request)
            reply = [b"", *socket.recv_multipart()]
            kind, rest = wire.read(reply)
            demand(kind == "RESPONSE", "a REQ is answered by RESPONSE and nothing else", reply)
            demand(len(rest) == 4, "service, uuid, status, body", reply)
            service, uuid, status, body = rest
            demand(uuid.decode() == command["uuid"], "an answer to another request", reply)
            demand(status in CLIENT_STATUSES, "a status that the text does not have", reply)
            say("answer", to=command["do"], service=service.decode(), uuid=uuid.decode(), status=status.decode(), body=body.decode())


if __name__ == "__main__":
    main()
