from __future__ import annotations

import hashlib

from barnabas.peers.apache.sasl import sasl_plaintext, scram_users
from barnabas.peers.apache.versions import Mode


def test_only_brokers_that_have_a_controller_listen_for_one() -> None:
    for mode in Mode:
        found = sasl_plaintext(mode, "u", "p")
        assert ("CONTROLLER" in found["listeners"]) == (mode is Mode.KRAFT)
        assert "SASL_PLAINTEXT://127.0.0.1:{spare_port}" in found["listeners"]
        assert "CONTROLLER" not in found["advertised.listeners"]


def test_a_user_of_scram_is_one_whom_its_password_lets_in() -> None:
    """RFC 5802: its Hi() is PBKDF2."""
    for body in scram_users("u", "secret"):
        (made,) = body["upsertions"]
        how = {1: "sha256", 2: "sha512"}[made["mechanism"]]
        hashed = hashlib.pbkdf2_hmac(how, b"secret", made["salt"], made["iterations"])
        assert made["salted_password"] == hashed
