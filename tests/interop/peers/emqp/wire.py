"""The frames of eMQP/1.0 as EventMQ 0.3.13 writes them. Whatever a broker has no business to send is an error."""

import json
import re
import uuid

VERSION = b"eMQP/1.0"

UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(rb"[0-9]+\.[0-9]+")

# How many frames follow the id, by who receives it.
RECEIVED = {
    "worker": {"ACK": (1,), "HEARTBEAT": (1,), "REQUEST": (3,), "KBAI": (0,), "KBYE": (0,)},
    "scheduler": {
        "ACK": (1,),
        "HEARTBEAT": (1,),
        "SCHEDULE": (5,),
        "UNSCHEDULE": (5,),
        "REPLY": (1, 2),
        "KBAI": (0,),
        "KBYE": (0,),
    },
    "router": {"INFORM": (2,), "READY": (0,), "HEARTBEAT": (1,), "REPLY": (2,), "KBAI": (0,), "KBYE": (0,)},
    "frontend": {
        "INFORM": (2,),
        "HEARTBEAT": (1,),
        "REQUEST": (3,),
        "SCHEDULE": (5,),
        "UNSCHEDULE": (5,),
        "KBAI": (0,),
        "KBYE": (0,),
    },
    "client": {"REPLY": (1, 2), "KBAI": (0,), "KBYE": (0,)},
    "admin": {"ACK": (1,), "REPLY": (1,)},
}

# These keep the id that somebody else gave them.
FORWARDED = ("REQUEST", "SCHEDULE", "UNSCHEDULE")


class ProtocolError(Exception):
    """Frames that the protocol does not have."""


def demand(condition, why, frames):
    if not condition:
        raise ProtocolError(f"{why}: {[bytes(frame[:64]) for frame in frames]}")


def new_id():
    return str(uuid.uuid4()).encode()


def message(command, *rest, id=None):
    return [b"", VERSION, command.encode(), id or new_id(), *rest]


def read(role, frames):
    """Command, id and the frames behind them of a message of the broker."""
    demand(len(frames) >= 4 and frames[0] == b"" and frames[1] == VERSION, "no empty frame, version, command, id", frames)
    command, id, rest = frames[2].decode(), frames[3], frames[4:]
    demand(command in RECEIVED[role], f"never travels to a {role}", frames)
    demand(len(rest) in RECEIVED[role][command], "another number of frames", frames)
    # A worker's result keeps the worker's id.
    if command not in FORWARDED and not (command == "REPLY" and len(rest) == 2):
        demand(UUID.fullmatch(id), "an id that is no version 4 UUID", frames)
    if command == "HEARTBEAT":
        demand(TIME.fullmatch(rest[0]), "a time that is no decimal number", frames)
    if command == "REPLY" and role == "admin":
        json.loads(rest[0])
    return command, id, rest
