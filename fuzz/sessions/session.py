"""The interface of sessions: a sans-IO generator of valid requests that returns live values."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.sessions.live_values import Values
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.registry import api

CLIENT_ID: Final = "barnabas"
"""The client id of all requests of sessions; brokers begin a member's id with it."""

TOPIC: Final = "fuzz-topic"
"""The topic of all sessions, with at least one partition; created if it is missing."""


class Request(NamedTuple):
    """A valid request."""

    key: int
    version: int
    body: Mapping[str, Any]


class Stage(NamedTuple):
    """The input of a session.

    Attributes:
        offered: API key -> oldest and newest version that the broker offers; empty: unknown.
        number: A number of its own, so that no two sessions share a group or a transaction.
        credentials: The user that the broker knows; None: the user of a broker that a campaign starts.
    """

    offered: Mapping[int, tuple[int, int]]
    number: int = 0
    credentials: Credentials | None = None

    def version(self, key: int, most: int = 32767) -> int:
        """Return the newest version that both sides know, at most `most`. Raises Unoffered."""
        low, high = api(key).versions
        if self.offered:
            if key not in self.offered:
                raise Unoffered(f"the broker does not offer {api(key).name}")
            low, high = max(low, self.offered[key][0]), min(high, self.offered[key][1])
        if min(high, most) < low:
            raise Unoffered(f"the broker offers {api(key).name} from version {low}")
        return min(high, most)

    @property
    def group_id(self) -> str:
        """Return a group id of its own, of a fixed length."""
        return f"fuzz-group-{self.number % 1000000:06}"

    @property
    def transactional_id(self) -> str:
        """Return a transactional id of its own, of a fixed length."""
        return f"fuzz-txn-{self.number % 1000000:06}"


class Unoffered(Exception):
    """The broker lacks what a session needs: the case is sent without it."""


class Stuck(Exception):
    """The broker refused a valid request, with this error code."""


Steps = Generator[Request, Mapping[str, Any], Values]
"""Receives each decoded response; returns the live values by name. Raises Unoffered or Stuck."""


class Session(NamedTuple):
    """A way to bring a connection into a state.

    Attributes:
        name: The session's name in recipes.
        description: For lists.
        needs: The APIs that the broker must offer.
        keys: The APIs of cases that may follow.
        lasts: How many cases one run can be used for.
        run: The generator.
        body: A valid body of an API in a version after it, with stand-ins for live values.
        others: Further bodies, each with a name.
        before_login: Its connection does not log in first, where others must.
        bare: A case is a token without a header, which is `auth_bytes` of the body (KIP-43).
        at_least: The oldest versions that the broker must offer, of APIs in `needs`.
        newest_only: Cases are of the newest version of each API that `body` has, not of all versions.
    """

    name: str
    description: str
    needs: tuple[int, ...]
    keys: frozenset[int]
    lasts: int
    run: Callable[[Stage], Steps]
    body: Callable[[int, int], Mapping[str, Any] | None]
    others: Callable[[int, int], Iterable[tuple[str, Mapping[str, Any]]]] = lambda key, version: ()
    before_login: bool = False
    bare: bool = False
    at_least: Mapping[int, int] = {}
    newest_only: bool = False

    def possible(self, offered: Mapping[int, tuple[int, int]]) -> bool:
        """Return whether a broker offers the APIs and versions that the session needs."""
        return all(key in offered for key in self.needs) and all(
            key in offered and offered[key][1] >= version for key, version in self.at_least.items()
        )
