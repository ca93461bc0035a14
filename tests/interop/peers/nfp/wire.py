"""The frames of NFP, written down from the specification of NORFAB and from frames of its releases. Whatever is in neither is an error."""

CODES = {
    "OPEN": 0x00,
    "READY": 0x01,
    "KEEPALIVE": 0x02,
    "DISCONNECT": 0x03,
    "POST": 0x04,
    "RESPONSE": 0x05,
    "GET": 0x06,
    "DELETE": 0x07,
    "EVENT": 0x08,
    "STREAM": 0x09,
    "PUT": 0x10,
    "MMI": 0x11,
}

CALLS = ("POST", "GET", "DELETE", "PUT", "MMI")
ANSWERS = ("RESPONSE", "EVENT", "STREAM", "MMI")


class ProtocolError(Exception):
    """Frames that the protocol does not have."""


def demand(condition, why, frames):
    if not condition:
        raise ProtocolError(f"{why}: {[bytes(frame[:32]) for frame in frames]}")


class Wire:
    """How one peer writes and reads. `form` is that of its command frames, and the only one it understands."""

    def __init__(self, role, form, dialect):
        self.own = {"client": b"NFPC01", "worker": b"NFPW01"}[role]
        self.dialect = dialect
        self.commands = {
            name: bytes([code]) if form == "byte" else b"0x%02x" % code for name, code in CODES.items()
        }

    def message(self, command, *rest):
        return [b"", self.own, self.commands[command], *rest]

    def read(self, frames):
        """Command and the frames behind it of a message of the broker."""
        demand(len(frames) >= 3 and frames[0] == b"", "no empty frame, header and command", frames)
        command = next((name for name, frame in self.commands.items() if frame == frames[2]), None)
        demand(command is not None, "no such command in this form", frames)
        plain = self.dialect == "current" or command in ("OPEN", "KEEPALIVE")
        demand(frames[1] == (b"NFPB01" if plain else self.own), "another header", frames)
        return command, frames[3:]
