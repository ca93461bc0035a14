"""A client of NFP in Python posts a job to one worker and gets its result. Debian: apt-get install python3-zmq."""

import json
import sys
import uuid

import zmq

POST, RESPONSE, GET = b"0x04", b"0x05", b"0x06"
job = uuid.uuid4().hex.encode()

socket = zmq.Context().socket(zmq.DEALER)
socket.routing_id = b"python-client"
socket.connect(sys.argv[1])


def send(command, body):
    socket.send_multipart([b"", b"NFPC01", command, b"config", b"router-2", job, json.dumps(body).encode()])


send(POST, {"task": "site", "args": [], "kwargs": {}})
while True:
    _, header, command, service, uuid_, status, body = socket.recv_multipart()
    if command != RESPONSE:
        continue  # an EVENT tells how the job goes
    if status == b"200":
        print("Python was told:", json.loads(body)["router-2"]["result"])
        break
    send(GET, {})
