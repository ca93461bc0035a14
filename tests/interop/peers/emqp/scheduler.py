"""A scheduler that schedules nothing by itself: it says what it gets, and fires what it is told to, and `--body` with every heartbeat.

Lines: those of an informer; order (SCHEDULE or UNSCHEDULE); reply.
Commands: those of an informer; {"do": "fire", "id": "m1", "body": "..."}.
"""

import argparse

from emqp.informer import Informer, add_arguments
from emqp.wire import new_id
from speech import say


class Scheduler(Informer):
    role = "scheduler"

    def on_order(self, command, id, rest):
        texts = [frame.decode() for frame in rest]
        if command == "REPLY":
            say("reply", of=texts[-1], result=texts[0] if len(texts) == 2 else None)
        else:
            say("order", command=command, id=id.decode(), rest=texts)

    def on_time(self, now):
        is_due = self.options.body is not None and self.acknowledged and now >= self.next_beat
        super().on_time(now)
        if is_due:
            self.fire(self.options.body, new_id())

    def fire(self, body, id):
        self.send("REQUEST", b"default", b"reply-requested", body.encode(), id=id)

    def on_command(self, command):
        super().on_command(command)
        if command["do"] == "fire":
            self.fire(command["body"], command["id"].encode())


def main():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.add_argument("--body")
    Scheduler(parser.parse_args()).run()


if __name__ == "__main__":
    main()
