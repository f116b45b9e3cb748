"""Test connections of OpenSSL with their keys, with gaps, with other keys, and bytes that are not TLS."""

from __future__ import annotations

import ssl
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from barnabas.captures.tls import connection
from barnabas.captures.tls.connection import (
    NO_CRYPTOGRAPHY,
    NO_KEYS,
    NOT_WHOLE,
    OTHER_KEYS,
    RENEGOTIATED,
    Connection,
    Missing,
)
from barnabas.captures.tls.hello import NoHello, server_hello
from barnabas.captures.tls.keylog import MASTER, KeyLog
from barnabas.captures.tls.protection import SUITES as SUITES_READ
from barnabas.captures.tls.protection import prf
from barnabas.specs.frames import Direction
from tests.captures.tls.talk import SUITES, Ends
from tests.captures.traffic import Said

TALK: list[Said] = [
    ("request", b"how are you?"),
    ("response", b"fine"),
    ("request", bytes(40_000)),
    ("response", b"x" * 20_000),
    ("request", b"bye"),
]
SPOKEN: dict[Direction, bytes] = {
    "request": b"how are you?" + bytes(40_000) + b"bye",
    "response": b"fine" + b"x" * 20_000,
}
BOTH: tuple[Direction, Direction] = ("request", "response")
NOTHING = dict.fromkeys(BOTH, b"")


def read(found: Connection, wire: Iterable[Said]) -> dict[Direction, bytes]:
    plain = dict.fromkeys(BOTH, b"")
    for direction, data in wire:
        for one in found.feed(direction, data):
            assert isinstance(one, bytes)
            plain[direction] += one
    return plain


def keys_in(path: Path) -> KeyLog:
    return KeyLog(path.read_bytes())


@pytest.mark.parametrize(("version", "suite"), SUITES)
def test_what_is_said_is_read(version: ssl.TLSVersion, suite: str, tmp_path: Path) -> None:
    ends = Ends(tmp_path / "keys", version, suite)
    for resumed in (False, True):
        wire = ends.wire(TALK, resume=resumed)
        assert ends.resumed == resumed
        result = Connection(keys_in(tmp_path / "keys"))
        assert read(result, wire) == SPOKEN
        assert result.read
        assert not result.trouble


def test_a_server_that_asks_for_another_hello(tmp_path: Path) -> None:
    """The client offers a group that the server does not take (HelloRetryRequest)."""
    ends = Ends(tmp_path / "keys")
    ends.server.set_ecdh_curve("secp521r1")
    wire = ends.wire(TALK)
    assert bytes.fromhex("cf21ad74e59a6111") in wire[1][1]
    assert read(Connection(keys_in(tmp_path / "keys")), wire) == SPOKEN


@pytest.mark.parametrize(("version", "suite"), SUITES[:2])
def test_keys_of_none_of_others_or_wrong_ones(
    version: ssl.TLSVersion, suite: str, tmp_path: Path
) -> None:
    wire = Ends(tmp_path / "keys", version, suite).wire(TALK)
    Ends(tmp_path / "others", version, suite).wire(TALK)
    lines = [line.rsplit(b" ", 1) for line in (tmp_path / "keys").read_bytes().splitlines()]
    wrong = b"\n".join(b" ".join([*line[:-1], line[-1][::-1]]) for line in lines)
    keys = {NO_KEYS: [KeyLog(), keys_in(tmp_path / "others")], OTHER_KEYS: [KeyLog(wrong)]}
    for trouble, logs in keys.items():
        for log in logs:
            result = Connection(log)
            assert read(result, wire) == NOTHING
            assert (result.read, result.trouble) == (False, trouble)


def test_keys_that_never_fit_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Ends(tmp_path / "keys").wire(TALK)
    text = (tmp_path / "keys").read_bytes().replace(b"SERVER_TRAFFIC", b"X")
    swapped = text.replace(b"CLIENT_TRAFFIC", b"SERVER_TRAFFIC")
    monkeypatch.setattr(connection, "_TRIALS", 1)
    result = Connection(KeyLog((tmp_path / "keys").read_bytes() + swapped))
    assert read(result, wire)["response"] == b""
    assert result.trouble == OTHER_KEYS


def compressed(hello: bytes) -> bytes:
    at = 5 + 38 + 1 + hello[5 + 38] + 2
    return hello[:at] + b"\1" + hello[at + 1 :]


@pytest.mark.parametrize(
    ("suite", "change", "said"),
    [
        ("ECDHE-ECDSA-AES256-SHA", bytes, "cipher suite 0xc00a (only AES-GCM"),
        ("ECDHE-ECDSA-AES128-SHA256", bytes, "cipher suite 0xc023 (only AES-GCM"),
        (SUITES[1][1], compressed, "cipher suite 0xc02b"),
        (SUITES[1][1], lambda hello: hello.replace(b"\3\3", b"\3\2", 2), "older than TLS 1.2"),
    ],
    ids=["CBC", "CBC of SHA-256", "compression", "version"],
)
def test_what_is_not_read(
    suite: str, change: Callable[[bytes], bytes], said: str, tmp_path: Path
) -> None:
    hello, answer, *wire = Ends(tmp_path / "keys", ssl.TLSVersion.TLSv1_2, suite).wire(TALK)
    result = Connection(keys_in(tmp_path / "keys"))
    assert read(result, [hello, ("response", change(answer[1])), *wire]) == NOTHING
    assert result.trouble.startswith(said)


@pytest.mark.parametrize("message", [b"\1\0\0\1\0", b"\1\xff\0\0", b"\2\0\0\0"])
def test_a_hello_that_is_none(message: bytes) -> None:
    result = Connection(KeyLog())
    assert list(result.feed("request", b"\x16\3\1\0" + bytes([len(message)]) + message)) == []
    assert result.trouble == NOT_WHOLE
    for _ in range(100):
        assert list(result.feed("request", b"\x16\3\1\x40\0" + bytes(16384))) == []
    assert len(result._halves["request"].hello) <= 16


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Ends(tmp_path / "keys").wire(TALK)
    monkeypatch.delitem(sys.modules, "barnabas.captures.tls.protection", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    result = Connection(keys_in(tmp_path / "keys"))
    assert read(result, wire) == NOTHING
    assert result.trouble == NO_CRYPTOGRAPHY


SERVER_HELLO = b"\2\0\0\x2f\3\3" + bytes(32) + b"\1s\xc0\x2f\0" + b"\0\6\0\x2b\0\2\3\4"


@pytest.mark.parametrize("cut", [0, 3, 10, 38, 40, 44, 46, 50])
def test_a_server_hello_that_is_cut_short(cut: int) -> None:
    assert server_hello(SERVER_HELLO).version == 0x0304
    assert server_hello(SERVER_HELLO[:43]).version == 0x0303, "without extensions"
    with pytest.raises(NoHello):
        server_hello(SERVER_HELLO[:cut])


def test_keys_are_of_no_use_without_the_hello_of_the_client(tmp_path: Path) -> None:
    wire = Ends(tmp_path / "keys").wire(TALK)
    result = Connection(keys_in(tmp_path / "keys"))
    assert read(result, wire[1:2]) == NOTHING
    assert result.trouble == NOT_WHOLE


def test_new_keys_of_tls_1_2_are_told(tmp_path: Path) -> None:
    """OpenSSL renegotiates no more: the record that would begin it is made by hand."""
    ends = Ends(tmp_path / "keys", *SUITES[1])
    wire = ends.wire(TALK)
    keys = keys_in(tmp_path / "keys")
    result = Connection(keys)
    closing = [at for at, (direction, _) in enumerate(wire) if direction == "request"][-1]
    assert read(result, wire[:closing]) == SPOKEN
    random, suite = wire[0][1][11:43], SUITES_READ[0xC02B]
    master = keys.secret(MASTER, random)
    assert master is not None
    block = prf(suite, master, b"key expansion" + wire[1][1][11:43] + random, 40)
    # Finished was the first, then the talk: a record up to 16,384 bytes
    number = 1 + 1 + 3 + 1
    body = b"explicit" + AESGCM(block[:16]).encrypt(
        block[32:36] + b"explicit", b"\1", number.to_bytes(8) + b"\x14\3\3\0\1"
    )
    record = b"\x14\3\3" + len(body).to_bytes(2) + body
    assert list(result.feed("request", record)) == [Missing(0)]
    assert result.trouble == RENEGOTIATED
