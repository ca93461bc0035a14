"""The frames of the Paranoid Pirate Protocol, written down from 6/PPP. Whatever is not in the text is an error."""

READY = b"\x01"
HEARTBEAT = b"\x02"


class ProtocolError(Exception):
    """Frames that the specification does not have."""


def demand(condition, why, frames):
    if not condition:
        raise ProtocolError(f"{why}: {[bytes(frame[:32]) for frame in frames]}")


def control_of(frames):
    """READY or HEARTBEAT of a message of one frame, None for a longer one."""
    if len(frames) > 1:
        return None
    demand(frames in ([READY], [HEARTBEAT]), "no such command", frames)
    return frames[0]


def envelope(addresses, content):
    """REQUEST or REPLY: an address stack with null terminator, then content. Without addresses: what a REQ socket sends."""
    return [*addresses, b"", *content]


def open_envelope(frames):
    """Address stack and content of a REQUEST or REPLY."""
    demand(b"" in frames, "no null terminator", frames)
    end = frames.index(b"")
    demand(len(frames) > end + 1, "no content", frames)
    return frames[:end], frames[end + 1 :]
