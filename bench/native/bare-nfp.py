"""The yardstick in Python: a ROUTER loop on python3-zmq that answers an NFP POST with a fixed 202, turns its frames into those of a worker's
POST, and a RESPONSE into that of a client, worker after worker in turn, and knows nothing else. Prints the bound endpoint, then a line for
each worker. The twin of bare-nfp.ts.
"""

import zmq

DISPATCHED = b'{"workers":["w1"],"uuid":"%s","target":"any","status":"DISPATCHED","service":"echo"}' % (b"0" * 32)


def main():
    router = zmq.Context().socket(zmq.ROUTER)
    router.linger = 0
    router.sndhwm = 100_000
    router.rcvhwm = 100_000
    router.bind("tcp://127.0.0.1:*")
    print(router.getsockopt_string(zmq.LAST_ENDPOINT), flush=True)
    workers = []
    turn = 0
    while True:
        frames = router.recv_multipart()
        peer, _, header, command = frames[:4]
        if header == b"NFPC01" and workers:
            worker = workers[turn % len(workers)]
            turn += 1
            uuid = frames[6]
            router.send_multipart([peer, b"", b"NFPB01", b"0x05", b"echo", uuid, b"202", DISPATCHED])
            router.send_multipart([worker, b"", b"NFPB01", b"0x04", peer, b"", *frames[6:]])
        elif header == b"NFPW01" and command == b"0x01":
            workers.append(peer)
            print("worker", flush=True)
        elif header == b"NFPW01" and len(frames) > 5:
            router.send_multipart([frames[4], b"", b"NFPB01", command, b"echo", *frames[6:]])


main()
