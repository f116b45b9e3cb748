from __future__ import annotations

import base64

from barnabas.peers.apache.sasl import sasl_plaintext, scram_users
from barnabas.peers.apache.versions import Mode
from barnabas.peers.replay.authentication import Credentials, tokens_of


def test_only_brokers_that_have_a_controller_listen_for_one() -> None:
    for mode in Mode:
        found = sasl_plaintext(mode, "u", "p")
        assert ("CONTROLLER" in found["listeners"]) == (mode is Mode.KRAFT)
        assert "SASL_PLAINTEXT://127.0.0.1:{spare_port}" in found["listeners"]
        assert "CONTROLLER" not in found["advertised.listeners"]


def test_a_user_of_scram_is_one_whom_its_password_lets_in() -> None:
    """What a server computes of the salted password is what the client does (RFC 5802)."""
    for body in scram_users("u", "secret"):
        (made,) = body["upsertions"]
        mechanism = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}[made["mechanism"]]
        tokens = tokens_of(Credentials(mechanism, "u", "secret"), "N")
        next(tokens)
        salt = base64.b64encode(made["salt"]).decode()
        final = tokens.send(f"r=N1,s={salt},i={made['iterations']}".encode())
        assert _proved(made["salted_password"], mechanism, salt, made["iterations"], final.decode())


def _proved(salted: bytes, mechanism: str, salt: str, iterations: int, final: str) -> bool:
    import hashlib
    import hmac

    algorithm = mechanism.lower().removeprefix("scram-").replace("-", "")
    without, _, proof = final.rpartition(",p=")
    key = hmac.digest(salted, b"Client Key", algorithm)
    message = f"n=u,r=N,r=N1,s={salt},i={iterations},{without}".encode()
    signature = hmac.digest(hashlib.new(algorithm, key).digest(), message, algorithm)
    return base64.b64decode(proof) == bytes(a ^ b for a, b in zip(key, signature, strict=True))
