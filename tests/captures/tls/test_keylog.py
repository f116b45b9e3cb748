"""Test the lines of key logs that are used, and those that are ignored."""

from __future__ import annotations

import pytest

from barnabas.captures.tls import keylog
from barnabas.captures.tls.keylog import CLIENT, MASTER, SERVER, KeyLog

RANDOM = "0a" * 32


def test_the_secrets_of_a_connection() -> None:
    text = (
        f"# made by a library\r\nCLIENT_RANDOM {RANDOM.upper()} {'01' * 48}\r\n"
        f"CLIENT_HANDSHAKE_TRAFFIC_SECRET {RANDOM} {'02' * 32}\n"
        f"CLIENT_TRAFFIC_SECRET_0 {RANDOM} {'03' * 32}\n  SERVER_TRAFFIC_SECRET_0  {RANDOM}\t{'04' * 48}"
    )
    log = KeyLog(text.encode())
    found = [log.secret(label, bytes([10] * 32)) for label in (MASTER, CLIENT, SERVER)]
    assert found == [bytes([1] * 48), bytes([3] * 32), bytes([4] * 48)]
    assert len(log) == 3
    assert log.secret(MASTER, bytes(32)) is None


def test_what_is_no_line_of_it() -> None:
    wrong = (
        f"CLIENT_RANDOM {RANDOM} {'01' * 16}",
        f"CLIENT_RANDOM {RANDOM[2:]} {'01' * 48}",
        f"CLIENT_RANDOM {RANDOM} {'01' * 40}0",
        f"CLIENT_RANDOM {RANDOM} {'0g' * 48}",
        f"CLIENT_RANDOM {RANDOM}",
        f"CLIENT_TRAFFIC_SECRET_N {RANDOM} {'01' * 32}",
        f"MY_CLIENT_RANDOM {RANDOM} {'01' * 48}",
        f"RSA 0123456789abcdef {'01' * 48}",
    )
    assert len(KeyLog("\n".join(wrong).encode() + b"\n\xff\0\xfe" * 100)) == 0


def test_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keylog, "LIMIT", 3)
    log = KeyLog()
    log.add("\n".join(f"CLIENT_RANDOM {at:064x} {at:096x}" for at in range(5)).encode())
    known = [log.secret(MASTER, at.to_bytes(32)) is not None for at in range(5)]
    assert known == [False, False, True, True, True]
