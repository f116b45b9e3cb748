"""How a campaign names a broker that somebody else runs: by address, and by a user where it wants a login.

`HOST:PORT`, or `HOST:PORT?mechanism=SCRAM-SHA-256&username=alice&password_file=FILE`. What a target is called
is printed, and kept with its findings: so it names the file that has the password.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from barnabas.captures.host_port import address_in
from barnabas.fuzz.errors import Misuse
from barnabas.nearest import choices
from barnabas.peers.replay.authentication import MECHANISMS, Credentials, password_in

KIND: Final = "address"

_OPTIONS: Final = ("mechanism", "username", "password_file")


class Address(NamedTuple):
    """Where it listens, and how connections log in: by a mechanism, or not at all if that is empty."""

    host: str
    port: int
    mechanism: str = ""
    username: str = ""
    password_file: str = ""

    def credentials(self) -> Credentials | None:
        """The user's. Raises fuzz.errors.Misuse for a file that can't be read."""
        if not self.mechanism:
            return None
        try:
            password = password_in(Path(self.password_file))
        except ValueError as problem:
            raise Misuse(f"{KIND}: password_file {self.password_file}: {problem}") from None
        return Credentials(self.mechanism, self.username, password)


def address_of(text: str) -> Address:
    """Of the text behind the colon of a target. Raises fuzz.errors.Misuse, which does not repeat a value: one
    may be a password.

    >>> address_of("127.0.0.1:9092?mechanism=PLAIN&username=alice&password_file=secret.txt")[2:]
    ('PLAIN', 'alice', 'secret.txt')
    """
    where, asks, query = text.partition("?")
    found = address_in(where)
    if found is None:
        raise Misuse(f"{KIND}:{where}: HOST:PORT is expected, e.g. {KIND}:127.0.0.1:9092")
    if not asks:
        return Address(*found)
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name == "password":
            raise Misuse(f"{KIND}: give password_file=FILE: what a target is called is printed")
        if name not in _OPTIONS:
            raise Misuse(f"{KIND}: unknown option {name!r}{choices(name, _OPTIONS)}")
    mechanism, username, file = (options.get(name, "") for name in _OPTIONS)
    if mechanism and mechanism not in MECHANISMS:
        raise Misuse(f"{KIND}: unknown mechanism {mechanism!r}{choices(mechanism, MECHANISMS)}")
    if not (username and file):
        raise Misuse(f"{KIND}: a login needs username=NAME and password_file=FILE behind ?")
    return Address(*found, mechanism or MECHANISMS[0], username, file)


def is_address(target: str) -> bool:
    """Whether a target's text names this kind."""
    return target.partition(":")[0] == KIND
