"""Runs another peer, a module of this folder, with CURVE on every socket it makes, as pyzmq does it.

    python3 -m encrypted --keys me.key_secret --server-key broker.key mdp.client --connect ...
    python3 -m encrypted --keys broker.key_secret --clients FOLDER mdp.broker
    python3 -m encrypted --write FOLDER NAME [NAME...]        certificates, as NORFAB has them written
"""

import argparse
import runpy
import sys

import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator


def serve(context, folder):
    """Lets in whose certificates are in the folder."""
    authenticator = ThreadAuthenticator(context)
    authenticator.start()
    authenticator.configure_curve(domain="*", location=folder)


def encrypt(options):
    public, secret = zmq.auth.load_certificate(options.keys)
    if options.clients is not None:
        serve(zmq.Context.instance(), options.clients)
    make = zmq.Context.socket

    def socket(self, *args, **kwargs):
        made = make(self, *args, **kwargs)
        made.curve_publickey = public
        made.curve_secretkey = secret
        if options.server_key is None:
            made.curve_server = True
        else:
            made.curve_serverkey, _ = zmq.auth.load_certificate(options.server_key)
        return made

    zmq.Context.socket = socket


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys")
    parser.add_argument("--server-key")
    parser.add_argument("--clients")
    parser.add_argument("--write")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.write is not None:
        for name in options.words:
            zmq.auth.create_certificates(options.write, name)
        return
    encrypt(options)
    module, *flags = options.words
    sys.argv = [module, *flags]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
