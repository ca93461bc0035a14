"""The yardstick in Python: a ROUTER loop on python3-zmq that turns the frames of an MDP 0.2 request into those of a worker request and
back, worker after worker in turn, and knows nothing else. Prints the bound endpoint, then a line for each worker. The twin of bare-mdp.c.
"""

import zmq


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
        peer, header, command = frames[:3]
        if header == b"MDPC02" and workers:
            worker = workers[turn % len(workers)]
            turn += 1
            router.send_multipart([worker, b"MDPW02", b"\2", peer, b"", *frames[4:]])
        elif header == b"MDPW02" and command == b"\1":
            workers.append(peer)
            print("worker", flush=True)
        elif header == b"MDPW02" and len(frames) > 5:
            router.send_multipart([frames[3], b"MDPC02", b"\3", b"echo", *frames[5:]])


main()
