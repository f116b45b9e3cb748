from __future__ import annotations

import asyncio
from typing import Any

import pytest

from barnabas.peers.replay.authentication import (
    AuthenticationError,
    Credentials,
    authenticate,
    tokens_of,
)
from barnabas.peers.replay.connection import LiveConnection
from barnabas.specs.frames import RequestHead
from barnabas.specs.registry import api
from tests.peers.replay.test_player import Broker, fine

# RFC 7677, section 3: an exchange of SCRAM-SHA-256
NONCE = "rOprNGfwEbeRWgbNEkqO"
FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

SASL_AUTHENTICATE = 36

USER = Credentials("SCRAM-SHA-256", "user", "pencil")


def test_the_example_of_the_rfc() -> None:
    for last, problem in ((SERVER, StopIteration), (b"v=AAAA", AuthenticationError)):
        tokens = tokens_of(USER, NONCE)
        assert next(tokens) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
        assert tokens.send(FIRST) == FINAL
        with pytest.raises(problem, match=r"^$|did not prove that it knows the password"):
            tokens.send(last)


@pytest.mark.parametrize(
    "first",
    [b"", b"r=x,s=AAAA,i=1", FIRST.replace(b"4096", b"99999999"), FIRST.replace(b"i=", b"j=")],
)
def test_what_is_no_challenge(first: bytes) -> None:
    tokens = tokens_of(USER, NONCE)
    next(tokens)
    with pytest.raises(AuthenticationError):
        tokens.send(first)


def test_plain_is_one_token_and_names_are_escaped_and_no_password_is_printed() -> None:
    tokens = tokens_of(Credentials("PLAIN", "a", "b"), "")
    assert next(tokens) == b"\0a\0b"
    with pytest.raises(StopIteration):
        tokens.send(b"")
    assert "pencil" not in repr(USER)
    assert next(tokens_of(Credentials("SCRAM-SHA-512", "a=,", "b"), "N")) == b"n,,n=a=3D=2C,r=N"


@pytest.mark.parametrize(("lifetime_ms", "times"), [(0, 1), (1, 4), (60_000, 1)])
def test_it_is_done_again_before_the_session_ends(lifetime_ms: int, times: int) -> None:
    asked: list[str] = []

    async def answer(head: RequestHead, body: dict[str, Any]) -> dict[str, Any]:
        asked.append(api(head.key).name)
        return {"session_lifetime_ms": lifetime_ms} if head.key == SASL_AUTHENTICATE else {}

    async def main() -> None:
        async with Broker(answer) as address:
            connection = await LiveConnection.open(address)
            await authenticate(connection, Credentials("PLAIN", "a", "b"))
            now = asyncio.get_running_loop().time
            for _ in range(3):
                until = now() + 0.001
                while now() < until:
                    await asyncio.sleep(0)
                await asyncio.gather(connection.ready(), connection.ready())
            await connection.close()

    asyncio.run(main())
    assert asked == ["SaslHandshake", "SaslAuthenticate"] * times


async def test_who_is_cancelled_while_it_closes_is_cancelled_alone() -> None:
    async with Broker(fine) as address:
        for turns in range(8):  # wherever it is in its closing
            connection = await LiveConnection.open(address)
            first, second = (asyncio.create_task(connection.close()) for _ in range(2))
            for _ in range(turns):
                await asyncio.sleep(0)
            was_under_way = not first.done()
            first.cancel()
            await second
            if was_under_way:
                with pytest.raises(asyncio.CancelledError):
                    await first
            assert connection.gone
