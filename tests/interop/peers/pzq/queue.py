"""A small PZQ queue in memory: it stores, delivers to one consumer after the other, and delivers again after a timeout.

It uses what the specification allows and the original never does: with --more, parts in front of the blank in its answers
and headers in its deliveries. With --forget n it neither stores nor answers the first n messages, with --refuse it answers each with
a reason, with --deaf n it overlooks the first n positive acknowledgements.

Lines: listening (receive, send), received (id, headers, body), acked (key, positive), extended (key), again (key) when a delivery
is to be repeated, stale.
Commands: {"do": "stale"} makes it write times of an hour ago from now on.
"""

import argparse
import time
import uuid
from collections import OrderedDict

import zmq

from pzq.wire import NO, YES, delivery, demand, open_message
from speech import STDIN, Commands, say


def micros():
    return time.time_ns() // 1000


class Queue:
    def __init__(self, options):
        self.options = options
        self.timeout = options.ack_timeout_ms * 1000
        self.behind = 0
        self.forget = options.forget
        self.deaf = options.deaf
        self.ready = OrderedDict()
        self.in_flight = OrderedDict()
        self.commands = Commands()
        self.receive = self.bind(zmq.ROUTER, options.receive, 0)
        self.send = self.bind(zmq.DEALER, options.send, 1)
        self.poller = zmq.Poller()
        for source in (STDIN, self.receive, self.send):
            self.poller.register(source, zmq.POLLIN)

    def bind(self, kind, endpoint, mark):
        socket = zmq.Context.instance().socket(kind)
        socket.linger = 0
        socket.sndhwm = mark
        socket.bind(endpoint)
        return socket

    def run(self):
        say(
            "listening",
            receive=self.receive.last_endpoint.decode(),
            send=self.send.last_endpoint.decode(),
        )
        while True:
            flags = zmq.POLLIN | (zmq.POLLOUT if self.ready else 0)
            self.poller.register(self.send, flags)
            ready = dict(self.poller.poll(self.wait_ms()))
            if STDIN in ready:
                for _ in self.commands.read():
                    self.behind = 3600 * 1_000_000
                    say("stale")
            if self.receive in ready:
                peer, *frames = self.receive.recv_multipart()
                self.on_message(peer, frames)
            if ready.get(self.send, 0) & zmq.POLLIN:
                self.on_ack(self.send.recv_multipart())
            self.on_time(time.monotonic())
            if ready.get(self.send, 0) & zmq.POLLOUT:
                self.deliver()

    def wait_ms(self):
        deadlines = [deadline for deadline, _ in self.in_flight.values()]
        return None if not deadlines else max(0, min(deadlines) - time.monotonic()) * 1000

    def on_message(self, peer, frames):
        id, headers, body = open_message(frames)
        say("received", id=id, headers=headers, body=body)
        if self.forget > 0:
            self.forget -= 1
            return
        more = [b"PZQ/python", b"0"] if self.options.more else []
        if self.options.refuse:
            self.receive.send_multipart([peer, id, NO, *more, b"", self.options.refuse.encode()])
            return
        self.ready[b"%d|%s" % (micros(), str(uuid.uuid4()).encode())] = body
        self.receive.send_multipart([peer, id, YES, *more, b"", *more])

    def deliver(self):
        key, body = next(iter(self.ready.items()))
        headers = [b"X-QUEUE:python", b"1"] if self.options.more else []
        try:
            self.send.send_multipart(delivery(key, micros() - self.behind, self.timeout, body, headers), zmq.NOBLOCK)
        except zmq.Again:
            return
        del self.ready[key]
        self.in_flight[key] = (time.monotonic() + self.timeout / 1_000_000, body)

    def on_ack(self, frames):
        if len(frames) == 1:
            say("extended", key=frames[0].decode())
            return
        demand(len(frames) == 2 and frames[1] in (YES, NO), "no acknowledgement", frames)
        key, status = frames
        say("acked", key=key.decode(), positive=status == YES)
        if status == YES and self.deaf > 0:
            self.deaf -= 1
            return
        held = self.in_flight.pop(key, None)
        if status == YES:
            self.ready.pop(key, None)
        elif held is not None:
            self.again(key, held[1])

    def on_time(self, now):
        for key, (deadline, body) in list(self.in_flight.items()):
            if deadline <= now:
                del self.in_flight[key]
                self.again(key, body)

    def again(self, key, body):
        self.ready[key] = body
        self.ready.move_to_end(key, last=False)
        say("again", key=key.decode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--receive", default="tcp://127.0.0.1:*")
    parser.add_argument("--send", default="tcp://127.0.0.1:*")
    parser.add_argument("--ack-timeout-ms", type=int, default=600_000)
    parser.add_argument("--forget", type=int, default=0)
    parser.add_argument("--deaf", type=int, default=0)
    parser.add_argument("--refuse")
    parser.add_argument("--more", type=int, default=0)
    Queue(parser.parse_args()).run()


if __name__ == "__main__":
    main()
