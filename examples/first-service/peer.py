"""A client of MDP 0.2 in Python: one DEALER socket, four frames each way. Debian: apt-get install python3-zmq."""

import sys

import zmq

socket = zmq.Context().socket(zmq.DEALER)
socket.connect(sys.argv[1])
socket.send_multipart([b"MDPC02", b"\x01", b"greet", b"Guido"])
header, command, service, reply = socket.recv_multipart()
print("Python was told:", reply.decode())
