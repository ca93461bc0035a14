"""Writes curve.json: one whole handshake of 26/CURVEZMQ and a message each way, with keys and nonces that are no secret.

Written from the specification on libsodium (Debian: libsodium23), and not from the code that is tested with it:

    python3 packages/zmtp/vectors/curve.py > packages/zmtp/vectors/curve.json
"""

import ctypes
import json
import struct

sodium = ctypes.CDLL('libsodium.so.23')
assert sodium.sodium_init() >= 0


def secret(first):
    return bytes((first + 7 * index) % 256 for index in range(32))


def public(secret_key):
    point = ctypes.create_string_buffer(32)
    assert sodium.crypto_scalarmult_base(point, secret_key) == 0
    return point.raw


def box(nonce, text, receiver, sender_secret):
    """The box of NaCl from the owner of a secret key to that of a public one: authenticator and cipher text."""
    assert len(nonce) == 24
    sealed = ctypes.create_string_buffer(16 + len(text))
    length = ctypes.c_ulonglong(len(text))
    assert sodium.crypto_box_easy(sealed, text, length, nonce, receiver, sender_secret) == 0
    return sealed.raw


def frame(flags, body):
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 2]) + struct.pack('>Q', len(body)) + body


def command(name, data):
    return frame(4, bytes([len(name)]) + name + data)


def property_of(name, value):
    return bytes([len(name)]) + name + struct.pack('>I', len(value)) + value


def count(number):
    return struct.pack('>Q', number)


# Long-term pairs of client and server, and the transient ones.
C_SECRET, S_SECRET, C_TRANSIENT_SECRET, S_TRANSIENT_SECRET = secret(1), secret(2), secret(3), secret(4)
C, S, C_TRANSIENT, S_TRANSIENT = map(public, (C_SECRET, S_SECRET, C_TRANSIENT_SECRET, S_TRANSIENT_SECRET))
COOKIE = bytes(range(96))
WELCOME_NONCE = bytes(range(100, 116))
VOUCH_NONCE = bytes(range(200, 216))
SHORT, LONG = b'hello', bytes(index % 251 for index in range(300))


def hello():
    sealed = box(b'CurveZMQHELLO---' + count(1), bytes(64), S, C_TRANSIENT_SECRET)
    return command(b'HELLO', b'\x01\x00' + bytes(72) + C_TRANSIENT + count(1) + sealed)


def welcome():
    sealed = box(b'WELCOME-' + WELCOME_NONCE, S_TRANSIENT + COOKIE, C_TRANSIENT, S_SECRET)
    return command(b'WELCOME', WELCOME_NONCE + sealed)


def initiate():
    vouch = box(b'VOUCH---' + VOUCH_NONCE, C_TRANSIENT + S, S_TRANSIENT, C_SECRET)
    properties = property_of(b'Socket-Type', b'DEALER') + property_of(b'Identity', b'worker-7')
    text = C + VOUCH_NONCE + vouch + properties
    sealed = box(b'CurveZMQINITIATE' + count(2), text, S_TRANSIENT, C_TRANSIENT_SECRET)
    return command(b'INITIATE', COOKIE + count(2) + sealed)


def ready():
    properties = property_of(b'Socket-Type', b'ROUTER')
    sealed = box(b'CurveZMQREADY---' + count(1), properties, C_TRANSIENT, S_TRANSIENT_SECRET)
    return command(b'READY', count(1) + sealed)


def message(prefix, nonce, flags, body, receiver, sender_secret):
    sealed = box(prefix + count(nonce), bytes([flags]) + body, receiver, sender_secret)
    return frame(0, b'\x07MESSAGE' + count(nonce) + sealed)


def from_client(nonce, flags, body):
    return message(b'CurveZMQMESSAGEC', nonce, flags, body, S_TRANSIENT, C_TRANSIENT_SECRET)


def from_server(nonce, flags, body):
    return message(b'CurveZMQMESSAGES', nonce, flags, body, C_TRANSIENT, S_TRANSIENT_SECRET)


def pair(public_key, secret_key):
    return {'publicKey': public_key.hex(), 'secretKey': secret_key.hex()}


print(
    json.dumps(
        {
            'client': pair(C, C_SECRET),
            'server': pair(S, S_SECRET),
            'clientTransient': pair(C_TRANSIENT, C_TRANSIENT_SECRET),
            'serverTransient': pair(S_TRANSIENT, S_TRANSIENT_SECRET),
            'cookie': COOKIE.hex(),
            'welcomeNonce': WELCOME_NONCE.hex(),
            'vouchNonce': VOUCH_NONCE.hex(),
            'hello': hello().hex(),
            'welcome': welcome().hex(),
            'initiate': initiate().hex(),
            'ready': ready().hex(),
            # One message of two frames each way: `hello`, and 300 bytes that count up to 250 again and again.
            'clientMessage': (from_client(3, 1, SHORT) + from_client(4, 0, LONG)).hex(),
            'serverMessage': (from_server(2, 1, SHORT) + from_server(3, 0, LONG)).hex(),
        },
        indent=2,
    )
)
