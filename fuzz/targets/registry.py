"""The registry: every kind of target, and how one is made of what a campaign says behind the colon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Role
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.sessions.login import USERNAME
from barnabas.fuzz.targets.address_settings import address_of, is_address
from barnabas.fuzz.targets.apache_settings import ApacheSettings, is_apache
from barnabas.fuzz.targets.target import Target
from barnabas.nearest import choices


class Kind(NamedTuple):
    """A kind of target. make: of the text behind the colon, and whether the user says that they own
    the target; raises barnabas.fuzz.errors.Misuse. example: how a campaign names one."""

    name: str
    role: Role
    about: str
    example: str
    make: Callable[[str, bool], Target]


def _address(text: str, own: bool) -> Target:
    from barnabas.fuzz.targets.address import address

    return address(address_of(text), own=own)


def _apache(text: str, own: bool) -> Target:
    from barnabas.fuzz.targets.apache import apache

    if not text:
        raise Misuse("apache: needs a version, e.g. apache:3.9.1")
    return apache(ApacheSettings.of(text))


def _embedded(text: str, own: bool) -> Target:
    from barnabas.fuzz.targets.embedded import embedded

    if text:
        raise Misuse(f"embedded:{text}: the target takes no name; write embedded")
    return embedded()


def _kfake(text: str, own: bool) -> Target:
    from barnabas.fuzz.targets.embedded import kfake

    if text:
        raise Misuse(f"kfake:{text}: the target takes no name; write kfake")
    return kfake()


def _decoder(text: str, own: bool) -> Target:
    from barnabas.fuzz.targets.decoders import decoder

    return decoder(text)


def _client(text: str, own: bool) -> Target:
    from barnabas.fuzz.targets.clients.registry import client

    return client(text)


# fmt: off
TARGETS: Final[tuple[Kind, ...]] = (
    Kind("address", "broker", "a running broker", "address:127.0.0.1:9092", _address),
    Kind("apache", "broker", "Apache Kafka of a version, downloaded once; needs Java", "apache:3.9.1",
         _apache),
    Kind("embedded", "broker", "librdkafka's mock brokers, in a separate process", "embedded",
         _embedded),
    Kind("kfake", "broker", "franz-go's fake cluster, built with the go on the path", "kfake", _kfake),
    Kind("decoder", "decoder", "a decoder of barnabas (specs, captures, frames), or "
                               "kafka-clients@4.4.0",
         "decoder:specs", _decoder),
    Kind("client", "client", "a client library of a release, or any command with {bootstrap} in it",
         "client:kafka-python@2.3.1", _client),
)
# fmt: on


VERSUS: Final = " vs "
"""Between the names of two targets that get the same cases."""

COMPARED: Final = (
    "apache:3.9.1 vs apache:4.3.1",
    "two brokers, decoders or clients, compared",
)
"""How a campaign names two, and what for."""


def sides(text: str) -> tuple[str, ...]:
    """The targets that a text names: one, or two to be compared.

    >>> sides("apache:3.9.1 vs embedded"), sides("client:command:sh -c 'a vs b'")
    (('apache:3.9.1', 'embedded'), ("client:command:sh -c 'a vs b'",))
    """
    if text.startswith("client:command:"):  # what is behind it is a shell's
        return (text,)
    return tuple(side.strip() for side in text.split(VERSUS))


def login_of(text: str) -> tuple[str, str] | None:
    """By which mechanism, and as whom, connections to a target log in that a text names, or to either; None:
    they do not. Raises Misuse.

    >>> login_of("apache:4.3.1?listener=sasl_plaintext"), login_of("embedded")
    (('PLAIN', 'barnabas'), None)
    """
    for side in sides(text):
        which = side.partition(":")[2]
        if is_apache(side) and (settings := ApacheSettings.of(which)).on_sasl:
            return settings.mechanism, USERNAME
        if is_address(side) and (where := address_of(which)).mechanism:
            return where.mechanism, where.username
    return None


def with_settings(text: str, changes: Mapping[str, Any]) -> str:
    """The targets that a text names, with other settings for each broker of Apache Kafka among them.

    Raises barnabas.fuzz.errors.Misuse for a text that names none.

    >>> with_settings("apache:3.9.1 vs apache:4.3.1", {"jvm": ("-Xmx1g",)})
    'apache:3.9.1?jvm=-Xmx1g vs apache:4.3.1?jvm=-Xmx1g'
    """
    named = sides(text)
    if not any(map(is_apache, named)):
        login = "; a login is named as in address:HOST:PORT?mechanism=PLAIN&username=NAME&password_file=FILE"
        hint = login if text.startswith("address:") else ""
        raise Misuse(
            f"{text}: only a target of the kind apache takes settings, e.g. apache:4.3.1{hint}"
        )
    return VERSUS.join(
        ApacheSettings.of(side.partition(":")[2]).changed(changes).text if is_apache(side) else side
        for side in named
    )


def target_of(text: str, own: bool, kinds: tuple[Kind, ...] = TARGETS) -> Target:
    """The target of a campaign. Raises barnabas.fuzz.errors.Misuse."""
    named = sides(text)
    if len(named) == 1:
        return _one(text, own, kinds)
    if len(named) > 2:
        raise Misuse(f"{text}: at most two targets can be compared")
    from barnabas.fuzz.targets.pair import beside

    return beside(*(_one(side, own, kinds) for side in named))


def _one(text: str, own: bool, kinds: tuple[Kind, ...]) -> Target:
    name, _, rest = text.partition(":")
    for kind in kinds:
        if kind.name == name:
            return kind.make(rest, own)
    hint = choices(name, [kind.name for kind in kinds])
    raise Misuse(f"{text}: unknown kind of target {name!r}{hint}")
