"""Test the user of requests, from SASL frames or from a proxy's comments."""

from __future__ import annotations

import base64
from itertools import count
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import exchange_filter
from barnabas.captures.tcp.events import Chunk, Closed, Event, Opened
from barnabas.specs.frames import Direction
from tests.captures.traffic import request, response
from tests.proxy.playbook import Stage

JWT = base64.urlsafe_b64encode(b'{"sub":"alice"}').rstrip(b"=")
OAUTH = b"n,,\x01auth=Bearer e30.%s.c2ln\x01\x01" % JWT
PLAIN = [(b"\0alice\0hunter2", b"")]
SCRAM = [(b"n,,n=alice,r=1", b"r=12,s=x,i=4096"), (b"c=biws,r=12,p=proof", b"v=y")]
REFUSED: dict[str, Any] = {"error_code": 58, "error_message": "no"}


class Talk:
    """A connection without a proxy; each chunk is a frame."""

    def __init__(self, **comment: Any) -> None:
        self.events: list[Event] = [Opened(1, 0, "10.0.0.1:5", "10.0.0.2:9092", comment)]
        self._numbers = count(1)

    def add(self, direction: Direction, data: bytes, *comments: dict[str, Any]) -> None:
        self.events.append(Chunk(1, "arrived", direction, len(self.events), data, comments))

    def ask(self, key: int, version: int, answer: dict[str, Any], **body: Any) -> None:
        number = next(self._numbers)
        self.add("request", request(number, key, version, **body))
        self.add("response", response(number, key, version, **answer))

    def work(self, times: int = 3) -> None:
        """Heartbeats: the second and later ones pass on the fast path."""
        for _ in range(times):
            self.ask(12, 0, {}, group_id="g", generation_id=1, member_id="m")

    def authenticate(
        self, mechanism: str, tokens: list[tuple[bytes, bytes]], version: int = 1, **answer: Any
    ) -> None:
        self.ask(17, version, {"mechanisms": [mechanism]}, mechanism=mechanism)
        for sent, came in tokens:
            if version:
                self.ask(36, 2, {"auth_bytes": came, **answer}, auth_bytes=sent)
            else:
                self.add("request", len(sent).to_bytes(4) + sent)
                self.add("response", len(came).to_bytes(4) + came)

    def exchanges(self) -> list[Exchange]:
        events = [*self.events, Closed(1, len(self.events), False)]
        return list(Conversations().exchanges(iter(events)))

    def users(self, api: str = "Heartbeat") -> list[str | None]:
        return [exchange.user for exchange in self.exchanges() if exchange.api == api]


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    ("mechanism", "tokens", "user", "words"),
    [
        ("PLAIN", PLAIN, "alice", ["PLAIN alice → authenticated"]),
        ("SCRAM-SHA-256", SCRAM, "alice",
         ["SCRAM-SHA-256 alice → challenge", "SCRAM-SHA-256 alice → authenticated"]),
        ("OAUTHBEARER", [(OAUTH, b"")], "alice", ["OAUTHBEARER alice → authenticated"]),
        ("OAUTHBEARER", [(b"n,,\x01auth=Bearer opaque\x01\x01", b"")], None,
         ["OAUTHBEARER → authenticated"]),
        ("GSSAPI", [(b"\x60\x82alice", b"\x60"), (b"\x60", b"")], None,
         ["GSSAPI → token", "GSSAPI → token"]),
    ],
)  # fmt: skip
def test_who_is_authenticated_in_the_words_of_the_proxy(
    version: int,
    mechanism: str,
    tokens: list[tuple[bytes, bytes]],
    user: str | None,
    words: list[str],
) -> None:
    talk = Talk()
    talk.work(2)
    talk.authenticate(mechanism, tokens, version)
    talk.work()
    assert talk.users() == [None, None, user, user, user]
    assert set(talk.users("SaslAuthenticate")) <= {None}, "nobody yet, when they came"
    actor = Stage(observed=True).actor()
    for event in talk.events[1:]:
        assert isinstance(event, Chunk)
        actor.feed(event.direction, event.data)
    said = [exchange.sasl for exchange in talk.exchanges() if exchange.sasl]
    assert said == [one.sasl for one in actor.done if one.sasl] == words


def test_who_is_refused_is_nobody_or_who_he_was() -> None:
    talk = Talk()
    talk.authenticate("PLAIN", [(b"\0bob\0wrong", b"")], **REFUSED)
    talk.work(1)
    talk.authenticate("PLAIN", PLAIN)
    talk.authenticate("PLAIN", [(b"\0bob\0wrong", b"")], **REFUSED)
    talk.work(2)
    assert talk.users() == [None, "alice", "alice"]


def test_a_proxy_says_who_it_is_since_it_hides_tokens() -> None:
    talk = Talk(broker=1, user="carol")  # was authenticated in a segment before
    talk.work(2)
    talk.add(
        "request", request(50, 36, 2, auth_bytes=b"*****"), {"frame": 2, "sasl": "PLAIN alice"}
    )
    said = {"frame": 2, "sasl": "authenticated", "user": "alice"}
    talk.add("response", response(50, 36, 2), said)
    talk.work(2)
    talk.add("request", request(51), {"frame": 5, "user": "dave"})  # what said so was left out
    talk.add("response", response(51))
    assert talk.users() == ["carol", "carol", "alice", "alice"]
    assert talk.users("Metadata") == ["dave"]


@pytest.mark.parametrize("said", [5, "", None, ["alice"], {"a": 1}])
def test_what_is_no_name_is_nobody(said: object) -> None:
    talk = Talk(broker=1, user=said)
    talk.work(1)
    talk.add("request", request(50, 36, 2, auth_bytes=b"*"), {"frame": 1, "sasl": "PLAIN"})
    talk.add("response", response(50, 36, 2), {"frame": 1, "sasl": "authenticated", "user": said})
    talk.work(1)
    assert talk.users() == [None, None]


def test_a_filter_asks_for_the_user() -> None:
    talk = Talk()
    talk.work(1)
    talk.authenticate("PLAIN", PLAIN)
    talk.work(2)
    passes = exchange_filter("user == 'alice'")
    assert [exchange.api for exchange in talk.exchanges() if passes(exchange)] == ["Heartbeat"] * 2
    rows = [exchange.row() for exchange in talk.exchanges()]
    assert rows[-1]["user"] == "alice"
    assert "hunter2" not in str(rows)


def test_words_of_sessions_and_refusals() -> None:
    talk = Talk()
    talk.authenticate("PLAIN", PLAIN, session_lifetime_ms=10_000)
    talk.authenticate("PLAIN", PLAIN, session_lifetime_ms=10_000)
    talk.authenticate("PLAIN", [(b"\0bob\0wrong", b"")], **REFUSED)
    found = talk.exchanges()
    assert [one.sasl for one in found if one.sasl] == [
        "PLAIN alice → authenticated for 10 s",
        "PLAIN alice → authenticated again for 10 s",
        "PLAIN bob → refused: no",
    ]
    assert "hunter2" not in str([one.row() for one in found])
