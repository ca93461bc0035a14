"""A client of EventMQ in Python asks for a job and its result. Debian: apt-get install python3-zmq."""

import json
import sys
import uuid

import zmq

job = {"path": "shop", "callable": "total", "args": [20, 22], "kwargs": {}, "class_args": [], "class_kwargs": {}}
body = json.dumps(["run", job]).encode()

socket = zmq.Context().socket(zmq.DEALER)
socket.connect(sys.argv[1])
socket.send_multipart([b"", b"eMQP/1.0", b"REQUEST", str(uuid.uuid4()).encode(), b"default", b"reply-requested", body])
while True:
    _, version, command, message_id, *rest = socket.recv_multipart()
    # The first REPLY says that the job was accepted; the second has the result before the id of the request.
    if command == b"REPLY" and len(rest) == 2:
        print("Python was told:", json.loads(rest[0])["value"])
        break
