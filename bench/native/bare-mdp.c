/*
 * The yardstick in C: a ROUTER loop on libzmq that turns the frames of an MDP 0.2 request into those of a worker request and back,
 * worker after worker in turn, and knows nothing else. Prints the bound endpoint, then a line for each worker. The twin of src/bare-mdp.ts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { FRAMES_MAX = 32, WORKERS_MAX = 20000, ID_MAX = 255 };

static struct { unsigned char id[ID_MAX]; size_t size; } workers[WORKERS_MAX];

static void check(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "%s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(1);
}

static void send_bytes(void *router, const void *bytes, size_t size)
{
    check(zmq_send(router, bytes, size, ZMQ_SNDMORE) >= 0, "send");
}

/* Sends the frames from `first` on as they came. */
static void send_rest(void *router, zmq_msg_t *frames, int first, int count)
{
    for (int at = first; at < count; at++)
        check(zmq_msg_send(&frames[at], router, at + 1 < count ? ZMQ_SNDMORE : 0) >= 0, "send");
}

static int receive(void *router, zmq_msg_t *frames)
{
    int count = 0;
    do {
        check(count < FRAMES_MAX, "receive: too many frames");
        zmq_msg_init(&frames[count]);
        check(zmq_msg_recv(&frames[count], router, 0) >= 0, "receive");
    } while (zmq_msg_more(&frames[count++]));
    return count;
}

static void set(void *router, int option, int value)
{
    check(zmq_setsockopt(router, option, &value, sizeof value) == 0, "option");
}

int main(void)
{
    void *context = zmq_ctx_new();
    zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 16384);
    void *router = zmq_socket(context, ZMQ_ROUTER);
    set(router, ZMQ_LINGER, 0);
    set(router, ZMQ_SNDHWM, 100000);
    set(router, ZMQ_RCVHWM, 100000);
    check(zmq_bind(router, "tcp://127.0.0.1:*") == 0, "bind");
    char endpoint[256];
    size_t size = sizeof endpoint;
    check(zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0, "endpoint");
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s\n", endpoint);

    zmq_msg_t frames[FRAMES_MAX];
    int known = 0;
    unsigned turn = 0;
    for (;;) {
        int count = receive(router, frames);
        const char *header = zmq_msg_data(&frames[1]);
        const char *command = zmq_msg_data(&frames[2]);
        if (header[3] == 'C' && known > 0) {
            int worker = (int)(turn++ % (unsigned)known);
            send_bytes(router, workers[worker].id, workers[worker].size);
            send_bytes(router, "MDPW02", 6);
            send_bytes(router, "\002", 1);
            send_bytes(router, zmq_msg_data(&frames[0]), zmq_msg_size(&frames[0]));
            send_bytes(router, "", 0);
            send_rest(router, frames, 4, count);
        } else if (header[3] == 'W' && command[0] == 1 && known < WORKERS_MAX) {
            workers[known].size = zmq_msg_size(&frames[0]);
            memcpy(workers[known].id, zmq_msg_data(&frames[0]), workers[known].size);
            known++;
            printf("worker\n");
        } else if (header[3] == 'W' && count > 5) {
            send_bytes(router, zmq_msg_data(&frames[3]), zmq_msg_size(&frames[3]));
            send_bytes(router, "MDPC02", 6);
            send_bytes(router, "\003", 1);
            send_bytes(router, "echo", 4);
            send_rest(router, frames, 5, count);
        }
        for (int at = 0; at < count; at++) zmq_msg_close(&frames[at]);
    }
}
