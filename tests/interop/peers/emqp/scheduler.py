"""A scheduler that schedules nothing by itself: it says what it gets, and fires what it is told to.

Lines: those of an informer; order (SCHEDULE or UNSCHEDULE); reply.
Commands: those of an informer; {"do": "fire", "id": "m1", "body": "..."}.
"""

import argparse

from emqp.informer import Informer, add_arguments
from speech import say


class Scheduler(Informer):
    role = "scheduler"

    def on_order(self, command, id, rest):
        texts = [frame.decode() for frame in rest]
        if command == "REPLY":
            say("reply", of=texts[-1], result=texts[0] if len(texts) == 2 else None)
        else:
            say("order", command=command, id=id.decode(), rest=texts)

    def on_command(self, command):
        super().on_command(command)
        if command["do"] == "fire":
            self.send("REQUEST", b"default", b"reply-requested", command["body"].encode(), id=command["id"].encode())


def main():
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    Scheduler(parser.parse_args()).run()


if __name__ == "__main__":
    main()
