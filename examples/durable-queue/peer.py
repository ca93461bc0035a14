"""A producer of PZQ in Python: id, empty frame, body; the answer is id, 1 (stored), empty frame. Debian: apt-get install python3-zmq."""

import sys

import zmq

socket = zmq.Context().socket(zmq.DEALER)
socket.connect(sys.argv[1])
socket.send_multipart([b"order-4", b"", b"bread"])
order, status, *_ = socket.recv_multipart()
print("Python was told:", order.decode(), "is stored" if status == b"1" else "is refused")
