"""A running broker as a target: `HOST:PORT`, with a login where the broker wants one.

`HOST:PORT?mechanism=SCRAM-SHA-256&username=alice&password_file=FILE`. The text is printed and stored with
findings, so it names the file that has the password.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qsl

from barnabas.captures.host_port import address_in
from barnabas.fuzz.errors import Misuse
from barnabas.nearest import choices
from barnabas.peers.ownership import refusal
from barnabas.peers.replay.authentication import MECHANISMS, Credentials, password_in

if TYPE_CHECKING:
    from barnabas.fuzz.targets.broker import BrokerTarget

KIND: Final = "address"

_OPTIONS: Final = ("mechanism", "username", "password_file")


class Address(NamedTuple):
    """The address of a running broker, and the login of its user; `mechanism` is empty without a login."""

    host: str
    port: int
    mechanism: str = ""
    username: str = ""
    password_file: str = ""

    def credentials(self) -> Credentials | None:
        """Return the user's credentials. Raises fuzz.errors.Misuse for a file that can't be read."""
        if not self.mechanism:
            return None
        try:
            password = password_in(Path(self.password_file))
        except ValueError as problem:
            raise Misuse(f"{KIND}: password_file {self.password_file}: {problem}") from None
        return Credentials(self.mechanism, self.username, password)


def address_of(text: str) -> Address:
    """Parse the text after the colon of a target.

    Raises fuzz.errors.Misuse with a message that does not repeat a value, since one may be a password.

    >>> address_of("127.0.0.1:9092?mechanism=PLAIN&username=alice&password_file=secret.txt")[2:]
    ('PLAIN', 'alice', 'secret.txt')
    """
    address, has_query, query = text.partition("?")
    host_port = address_in(address)
    if host_port is None:
        raise Misuse(f"{KIND}:{address}: expected HOST:PORT, e.g. {KIND}:127.0.0.1:9092")
    if not has_query:
        return Address(*host_port)
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name == "password":
            raise Misuse(f"{KIND}: give password_file=FILE: names of targets are printed")
        if name not in _OPTIONS:
            raise Misuse(f"{KIND}: unknown option {name!r}{choices(name, _OPTIONS)}")
    mechanism, username, file = (options.get(name, "") for name in _OPTIONS)
    if mechanism and mechanism not in MECHANISMS:
        raise Misuse(f"{KIND}: unknown mechanism {mechanism!r}{choices(mechanism, MECHANISMS)}")
    if not (username and file):
        raise Misuse(f"{KIND}: a login needs username=NAME and password_file=FILE after ?")
    return Address(*host_port, mechanism or MECHANISMS[0], username, file)


def is_address(target: str) -> bool:
    """Return whether a target's text names this kind."""
    return target.partition(":")[0] == KIND


def check_own(host: str, owned: bool) -> None:
    """Raise Misuse for a host that is not this machine, unless the user owns it.

    >>> check_own("127.0.0.1", False), check_own("broker.example", True)
    (None, None)
    """
    if reason := refusal(host, "malformed frames may damage it", owned=owned):
        raise Misuse(reason)


def address(where: Address, *, owned: bool = False) -> BrokerTarget:
    """Return the target for a running broker.

    Args:
        where: The broker's address and the login of its user.
        owned: The user owns the broker's machine.

    Raises:
        barnabas.fuzz.errors.Misuse: The address is another machine's and `owned` is not set.
    """
    from barnabas.fuzz.targets.broker import BrokerTarget
    from barnabas.fuzz.targets.service import Elsewhere

    check_own(where.host, owned)
    return BrokerTarget(Elsewhere(where.host, where.port), credentials=where.credentials())
