"""A pub-sub device as the protocol has it: PUBLISH of six frames in at a ROUTER, topic and body out at a PUB.

Lines: listening, with both endpoints; published.
"""

import argparse

import zmq

from emqp.wire import demand
from speech import STDIN, Commands, say


def main():
    argparse.ArgumentParser().parse_args()
    context = zmq.Context.instance()
    router, pub = context.socket(zmq.ROUTER), context.socket(zmq.PUB)
    pub.linger = router.linger = 1000
    for socket in (router, pub):
        socket.bind("tcp://127.0.0.1:*")
    poller = zmq.Poller()
    poller.register(STDIN, zmq.POLLIN)
    poller.register(router, zmq.POLLIN)
    commands = Commands()
    say("listening", publish=router.last_endpoint.decode(), subscribe=pub.last_endpoint.decode())
    while True:
        ready = dict(poller.poll())
        if router in ready:
            identity, *frames = router.recv_multipart()
            # The product decodes every frame: ids that are no text end it.
            identity.decode()
            demand(len(frames) == 6, "PUBLISH has another number of frames", frames)
            empty, version, command, _, topic, body = frames
            demand((empty, version, command) == (b"", b"eMQP/1.0", b"PUBLISH"), "no PUBLISH", frames)
            pub.send_multipart([topic, body])
            say("published", topic=topic)
        if STDIN in ready:
            commands.read()


if __name__ == "__main__":
    main()
