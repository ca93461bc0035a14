"""A job manager, as EventMQ's own: no READY before the first HEARTBEAT, a REPLY only to `reply-requested`, READY after each job.

The result of a job is its first argument. A job whose callable is `hold` is finished when it is told so.

Lines: those of an informer; request, for each job; finished.
Commands: those of an informer; {"do": "finish", "id": "m1"}.
"""

import argparse
import json

from emqp.informer import Informer, add_arguments
from emqp.wire import demand
from speech import say


class Worker(Informer):
    role = "worker"

    def __init__(self, options):
        super().__init__(options)
        self.jobs = {}

    def queues(self):
        return self.options.queues.encode()

    def is_idle(self):
        return not self.jobs

    def on_first_heartbeat(self):
        for _ in range(self.options.slots - len(self.jobs)):
            self.send("READY")

    def on_order(self, command, id, rest):
        queue, headers, body = rest
        demand(id not in self.jobs, "a job that it has already", rest)
        demand(len(self.jobs) < self.options.slots, "more jobs than slots", rest)
        word, job = json.loads(body)
        demand(word == "run", "another word than run", rest)
        say("request", id=id.decode(), queue=queue.decode(), headers=headers.decode(), argument=job["args"][0])
        self.jobs[id] = (headers.split(b","), job["args"])
        if job["callable"] != "hold":
            self.finish(id)

    def on_command(self, command):
        super().on_command(command)
        if command["do"] == "finish":
            self.finish(command["id"].encode())

    def finish(self, id):
        headers, arguments = self.jobs.pop(id)
        if b"reply-requested" in headers:
            self.send("REPLY", json.dumps({"value": arguments[0]}).encode(), id)
        if not self.leaving:
            self.send("READY")
        say("finished", id=id.decode())


def main():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.add_argument("--queues", default='[[10, "default"]]')
    parser.add_argument("--slots", type=int, default=4)
    Worker(parser.parse_args()).run()


if __name__ == "__main__":
    main()
