"""The registry of all kinds of targets, and the parser of a campaign's target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Role
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.sessions.login import USERNAME
from barnabas.fuzz.targets.address import address_of, is_address
from barnabas.fuzz.targets.apache_settings import ApacheSettings, is_apache
from barnabas.fuzz.targets.target import Target
from barnabas.nearest import choices

if TYPE_CHECKING:
    from barnabas.fuzz.targets.pair import PairTarget


class TargetKind(NamedTuple):
    """A kind of target.

    Attributes:
        name: The text before the colon.
        role: What the target is.
        description: For lists.
        example: A target as a campaign names it.
        make: Makes the target from the text after the colon, and whether the user owns it; raises
            barnabas.fuzz.errors.Misuse.
    """

    name: str
    role: Role
    description: str
    example: str
    make: Callable[[str, bool], Target]


def _address(text: str, owned: bool) -> Target:
    from barnabas.fuzz.targets.address import address

    return address(address_of(text), owned=owned)


def _apache(text: str, owned: bool) -> Target:
    from barnabas.fuzz.targets.apache import apache

    if not text:
        raise Misuse("apache: needs a version, e.g. apache:3.9.1")
    return apache(ApacheSettings.of(text))


def _librdkafka(text: str, owned: bool) -> Target:
    from barnabas.fuzz.targets.embedded import librdkafka

    if text:
        raise Misuse(f"librdkafka:{text}: the target takes no name; write librdkafka")
    return librdkafka()


def _kfake(text: str, owned: bool) -> Target:
    from barnabas.fuzz.targets.embedded import kfake

    if text:
        raise Misuse(f"kfake:{text}: the target takes no name; write kfake")
    return kfake()


def _decoder(text: str, owned: bool) -> Target:
    from barnabas.fuzz.targets.decoders import decoder

    return decoder(text)


def _client(text: str, owned: bool) -> Target:
    from barnabas.fuzz.targets.clients.registry import client

    return client(text)


# fmt: off
TARGETS: Final[tuple[TargetKind, ...]] = (
    TargetKind("address", "broker", "a running broker", "address:127.0.0.1:9092", _address),
    TargetKind("apache", "broker", "Apache Kafka of a version, downloaded once; needs Java", "apache:3.9.1",
         _apache),
    TargetKind("librdkafka", "broker", "librdkafka's mock brokers, in a separate process", "librdkafka",
         _librdkafka),
    TargetKind("kfake", "broker", "franz-go's fake cluster, built with the go on the path", "kfake", _kfake),
    TargetKind("decoder", "decoder", "a decoder of barnabas (specs, captures, frames), or "
                               "kafka-clients@4.4.0",
         "decoder:specs", _decoder),
    TargetKind("client", "client", "a client library of a release, or any command with {bootstrap} in it",
         "client:kafka-python@2.3.1", _client),
)
# fmt: on


VERSUS: Final = " vs "
"""The separator of two targets that get the same cases."""

COMPARED: Final = (
    "apache:3.9.1 vs apache:4.3.1",
    "two brokers, decoders or clients, compared",
)
"""How a campaign names two targets, and what they are for."""


def sides(text: str) -> tuple[str, ...]:
    """Return the targets that a text names: one, or two to be compared.

    >>> sides("apache:3.9.1 vs librdkafka"), sides("client:command:sh -c 'a vs b'")
    (('apache:3.9.1', 'librdkafka'), ("client:command:sh -c 'a vs b'",))
    """
    if text.startswith("client:command:"):  # the rest is a shell command
        return (text,)
    return tuple(side.strip() for side in text.split(VERSUS))


def login_of(text: str) -> tuple[str, str] | None:
    """Return the mechanism and the user of connections to a target; None without a login.

    Of two targets that are compared, the first with a login counts. Raises Misuse.

    >>> login_of("apache:4.3.1?listener=sasl_plaintext"), login_of("librdkafka")
    (('PLAIN', 'barnabas'), None)
    """
    for side in sides(text):
        text_after_colon = side.partition(":")[2]
        if is_apache(side) and (settings := ApacheSettings.of(text_after_colon)).on_sasl:
            return settings.mechanism, USERNAME
        if is_address(side) and (address := address_of(text_after_colon)).mechanism:
            return address.mechanism, address.username
    return None


def with_settings(text: str, changes: Mapping[str, Any]) -> str:
    """Return a target's text with other settings for each Apache Kafka broker in it.

    Raises barnabas.fuzz.errors.Misuse for a text without one.

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


def target_of(text: str, owned: bool, kinds: tuple[TargetKind, ...] = TARGETS) -> Target:
    """Return the target of a campaign. Raises barnabas.fuzz.errors.Misuse."""
    named = sides(text)
    if len(named) == 1:
        return _one(text, owned, kinds)
    if len(named) > 2:
        raise Misuse(f"{text}: at most two targets can be compared")
    return compared(*(_one(side, owned, kinds) for side in named))


def compared(first: Target, second: Target) -> PairTarget:
    """Return one target of two that get the same cases.

    Raises:
        barnabas.fuzz.errors.Misuse: The targets have different roles.
    """
    from barnabas.fuzz.targets.clients.comparison import ClientComparison
    from barnabas.fuzz.targets.clients.target import ClientTarget
    from barnabas.fuzz.targets.outcomes import OutcomeComparison
    from barnabas.fuzz.targets.pair import PairTarget

    if isinstance(first, ClientTarget) and isinstance(second, ClientTarget):
        return PairTarget(ClientComparison(first.compared(), second.compared()))
    if first.role != second.role:
        raise Misuse(
            f"{first.name} and {second.name} can't be compared: give two brokers, two decoders or "
            "two clients"
        )
    return PairTarget(OutcomeComparison(first, second))


def _one(text: str, owned: bool, kinds: tuple[TargetKind, ...]) -> Target:
    name, colon, rest = text.partition(":")
    for kind in kinds:
        if kind.name == name:
            if colon and not rest:
                raise Misuse(f"{text} has nothing after the colon; write e.g. {kind.example}")
            return kind.make(rest, owned)
    hint = choices(name, [kind.name for kind in kinds])
    raise Misuse(f"{text}: unknown kind of target {name!r}{hint}")
