"""The frames of PZQ, written down from "PZQ Sockets & Formats" and the bytes of the original. Whatever a queue must not send is an error."""

import re

YES = b"1"
NO = b"0"
MONITOR = b"MONITOR"

KEY = re.compile(rb"\d{16}\|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MICROS = re.compile(rb"[1-9]\d{0,15}")


class ProtocolError(Exception):
    """Frames that the original does not have."""


def demand(condition, why, frames):
    if not condition:
        raise ProtocolError(f"{why}: {[bytes(frame[:64]) for frame in frames]}")


def message(id, headers, body):
    """What a producer sends."""
    return [id, *headers, b"", *body]


def open_message(frames):
    """Id, headers and body of what a producer has sent."""
    demand(len(frames) > 2 and b"" in frames[1:], "no delimiter", frames)
    end = frames.index(b"", 1)
    demand(len(frames) > end + 1, "no body", frames)
    return frames[0], frames[1:end], frames[end + 1 :]


def answer(frames):
    """Id and reason of a queue's answer to a producer; no reason for a message that is stored."""
    demand(len(frames) >= 3, "too few frames", frames)
    demand(frames[2] == b"", "no delimiter", frames)
    if frames[1] == YES:
        demand(len(frames) == 3, "success has three frames", frames)
        return frames[0], None
    demand(frames[1] == NO, "no such status", frames)
    demand(len(frames) == 4, "failure has four frames", frames)
    demand(re.fullmatch(rb"[\x20-\x7e]+", frames[3]), "a reason is one line of ASCII", frames)
    return frames[0], frames[3].decode()


def delivery(key, sent, timeout, body, headers=()):
    """What a queue sends a consumer."""
    return [key, b"%d" % sent, b"%d" % timeout, *headers, b"", *body]


def open_delivery(frames):
    """Key, time of sending, timeout and body of a delivery, all strictly as the original writes them."""
    demand(len(frames) > 4, "too few frames", frames)
    demand(KEY.fullmatch(frames[0]), "no key", frames)
    demand(MICROS.fullmatch(frames[1]) and len(frames[1]) == 16, "no time of sending", frames)
    demand(MICROS.fullmatch(frames[2]), "no timeout", frames)
    demand(frames[3] == b"", "the delimiter is not where it always is", frames)
    return frames[0], int(frames[1]), int(frames[2]), frames[4:]
