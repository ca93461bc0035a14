"""The frames of Majordomo, written down from 18/MDP (0.2) and 7/MDP (0.1). Whatever is not in the text is an error."""


class ProtocolError(Exception):
    """Frames that the specification does not have."""


def demand(condition, why, frames):
    if not condition:
        raise ProtocolError(f"{why}: {[bytes(frame[:32]) for frame in frames]}")


class Version:
    """One version: what precedes each header, the headers, and the numbers of the commands."""

    def __init__(self, name, lead, client, worker, client_commands, worker_commands):
        self.name = name
        self.lead = lead
        self.client = client
        self.worker = worker
        self.client_commands = client_commands
        self.worker_commands = worker_commands

    # MDP/Client. 0.1 has no command frame there: the direction tells request from reply.

    def client_message(self, command, service, body):
        """A request (REQUEST) or a reply (PARTIAL, FINAL) between client and broker."""
        numbers = self.client_commands
        number = [numbers[command]] if numbers else []
        return [*self.lead, self.client, *number, service, *body]

    def read_client_message(self, frames, expected):
        """Command, service and body of a message between client and broker; `expected` lists the commands it may have."""
        rest = self._behind_header(frames, self.client)
        command = "FINAL" if "FINAL" in expected else "REQUEST"
        if self.client_commands:
            command = name_of(self.client_commands, rest, frames)
            rest = rest[1:]
        demand(command in expected, f"{command} never travels this way", frames)
        demand(len(rest) >= 2, "service or body is missing", frames)
        return command, rest[0], rest[1:]

    # MDP/Worker

    def worker_message(self, command, *rest):
        """Any message between worker and broker."""
        return [*self.lead, self.worker, self.worker_commands[command], *rest]

    def worker_job(self, command, client, body):
        """A request to a worker or a reply from it: the client's address, an empty frame, the body."""
        return self.worker_message(command, client, b"", *body)

    def read_worker_message(self, frames):
        """Command and the frames behind it of a message between worker and broker."""
        rest = self._behind_header(frames, self.worker)
        command = name_of(self.worker_commands, rest, frames)
        if command in ("HEARTBEAT", "DISCONNECT"):
            demand(len(rest) == 1, f"{command} has frames", frames)
        if command == "READY":
            demand(len(rest) == 2, "READY has one service", frames)
        return command, rest[1:]

    def is_client(self, frames):
        """True for MDP/Client, false for MDP/Worker."""
        at = len(self.lead)
        return frames[at : at + 1] == [self.client]

    def _behind_header(self, frames, header):
        at = len(self.lead)
        demand(frames[: at + 1] == [*self.lead, header], f"not {header.decode()}", frames)
        return frames[at + 1 :]


def split_job(rest):
    """Client address and body out of the frames behind REQUEST, PARTIAL or FINAL of MDP/Worker."""
    demand(len(rest) >= 3 and rest[0] != b"" and rest[1] == b"", "envelope or body is missing", rest)
    return rest[0], rest[2:]


def name_of(numbers, rest, frames):
    for name, number in numbers.items():
        if rest[:1] == [number]:
            return name
    raise ProtocolError(f"no such command: {frames}")


VERSIONS = {
    "0.1": Version(
        name="0.1",
        lead=[b""],
        client=b"MDPC01",
        worker=b"MDPW01",
        client_commands={},
        worker_commands={
            "READY": b"\x01",
            "REQUEST": b"\x02",
            "FINAL": b"\x03",  # REPLY, in the words of 7/MDP
            "HEARTBEAT": b"\x04",
            "DISCONNECT": b"\x05",
        },
    ),
    "0.2": Version(
        name="0.2",
        lead=[],
        client=b"MDPC02",
        worker=b"MDPW02",
        client_commands={"REQUEST": b"\x01", "PARTIAL": b"\x02", "FINAL": b"\x03"},
        worker_commands={
            "READY": b"\x01",
            "REQUEST": b"\x02",
            "PARTIAL": b"\x03",
            "FINAL": b"\x04",
            "HEARTBEAT": b"\x05",
            "DISCONNECT": b"\x06",
        },
    ),
}
