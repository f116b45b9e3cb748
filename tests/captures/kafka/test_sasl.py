"""Test user and outcome of SASL tokens."""

from __future__ import annotations

import base64
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.sasl import Sasl, user_of


def jwt(claims: object) -> bytes:
    part = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=")
    return b"n,,\x01auth=Bearer e30." + part + b".c2ln\x01\x01"


@pytest.mark.parametrize(
    ("mechanism", "token", "user"),
    [
        ("PLAIN", b"\0alice\0secret", "alice"),
        ("PLAIN", b"other\0alice\0secret", "alice"),
        ("PLAIN", b"alice", ""),
        ("PLAIN", b"\0alice\0sec\0ret", ""),
        ("PLAIN", b"\0a\x1b[2J\0secret", "a\N{REPLACEMENT CHARACTER}[2J"),
        ("SCRAM-SHA-256", b"n,,n=alice,r=nonce", "alice"),
        ("SCRAM-SHA-512", b"n,a=x,n=a=2Cb=3Dc,r=nonce,tokenauth=true", "a,b=c"),
        ("SCRAM-SHA-256", b"c=biws,r=nonce,p=proof", ""),
        ("OAUTHBEARER", b"n,a=alice,\x01auth=Bearer opaque\x01\x01", "alice"),
        ("OAUTHBEARER", jwt({"sub": "alice"}), "alice"),
        ("OAUTHBEARER", jwt({"sub": 5}), ""),
        ("OAUTHBEARER", jwt([]), ""),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer opaque\x01\x01", ""),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer a.!!.b\x01\x01", ""),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer a.\xc3\xa9.b\x01\x01", ""),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer e30." + base64.b64encode(b"[" * 99_999) + b".x\x01\x01", ""),
        ("GSSAPI", b"\x60\x82\x02alice", ""),
        ("", b"\0alice\0secret", ""),
    ],
)  # fmt: skip
def test_the_user(mechanism: str, token: bytes, user: str) -> None:
    assert user_of(mechanism, token) == user


@given(st.sampled_from(["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER", "GSSAPI"]), st.binary())
def test_any_token_is_read(mechanism: str, token: bytes) -> None:
    sasl = Sasl(mechanism)
    sasl.note_token(token)
    sasl.note_outcome(token)


def test_scram_from_first_to_last_and_again() -> None:
    sasl = Sasl()
    for outcome in ("authenticated for 10 s", "authenticated again for 10 s"):
        sasl.note_handshake("SCRAM-SHA-256")
        sasl.note_handshake_response(0)
        assert sasl.note_token(b"n,,n=bob,r=1") == "SCRAM-SHA-256 bob"
        assert sasl.note_outcome(b"r=12,s=x,i=4096") == "challenge"
        assert sasl.note_token(b"c=biws,r=12,p=proof") == "SCRAM-SHA-256 bob"
        assert sasl.note_outcome(b"v=x", lifetime_ms=10_000) == outcome
    assert sasl.times == 2


@pytest.mark.parametrize(
    ("mechanism", "answer", "said"),
    [
        ("PLAIN", {"token": b"", "error": 58, "message": "Authentication failed"}, "refused: Auth"),
        ("PLAIN", {"token": b"", "error": 58}, "refused: no reason given"),
        ("PLAIN", {"token": b""}, "authenticated"),
        ("SCRAM-SHA-256", {"token": b"e=unknown-user"}, "refused: unknown-user"),
        ("OAUTHBEARER", {"token": b'{"status":"invalid_token"}'}, "refused"),
        ("OAUTHBEARER", {"token": b"", "lifetime_ms": 1500}, "authenticated for 1.5 s"),
        ("GSSAPI", {"token": b"\x60"}, "token"),
        ("GSSAPI", {"token": b"", "lifetime_ms": 1000}, "authenticated for 1 s"),
    ],
)
def test_the_outcome(mechanism: str, answer: dict[str, object], said: str) -> None:
    sasl = Sasl(mechanism)
    assert sasl.note_outcome(**answer).startswith(said)  # type: ignore[arg-type]
    assert sasl.times == said.startswith("authenticated")


def test_a_token_of_any_size_is_looked_at_in_bounded_memory() -> None:
    token = bytes(1 << 22)  # each byte would be an empty part
    tracemalloc.start()
    try:
        user_of("PLAIN", token)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1 << 20
