"""Which fields carry secrets, and how they are kept out of whatever is printed.

Raw tokens behind SaslHandshake v0 have no fields: all of their bytes are secret.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from barnabas.specs.frames import Direction
from barnabas.specs.registry import key_of

_TOPOLOGIES: Final[tuple[tuple[str, Direction, str], ...]] = (
    ("StreamsGroupHeartbeat", "request", ""),
    ("StreamsGroupDescribe", "response", "groups."),
)
"""Where a Streams application says with which settings it has topics created."""

SECRETS: Final[tuple[tuple[str, Direction, str], ...]] = (
    ("SaslAuthenticate", "request", "auth_bytes"),
    ("SaslAuthenticate", "response", "auth_bytes"),
    ("AlterUserScramCredentials", "request", "upsertions.salt"),
    ("AlterUserScramCredentials", "request", "upsertions.salted_password"),
    ("CreateDelegationToken", "response", "hmac"),
    ("RenewDelegationToken", "request", "hmac"),
    ("ExpireDelegationToken", "request", "hmac"),
    ("DescribeDelegationToken", "response", "tokens.hmac"),
    # A request does not say which of its values are sensitive, and a broker's may be the password
    # of a key store: all are withheld. So are those of topics that a client creates.
    ("AlterConfigs", "request", "resources.configs.value"),
    ("IncrementalAlterConfigs", "request", "resources.configs.value"),
    ("CreateTopics", "request", "topics.configs.value"),
    *(
        (name, direction, f"{above}topology.subtopologies.{topics}.topic_configs.value")
        for name, direction, above in _TOPOLOGIES
        for topics in ("state_changelog_topics", "repartition_source_topics")
    ),
    # Kafka's brokers send null where they say that a value is sensitive; others may not.
    ("CreateTopics", "response", "topics.configs[is_sensitive].value"),
    ("DescribeConfigs", "response", "results.configs[is_sensitive].value"),
    ("DescribeConfigs", "response", "results.configs[is_sensitive].synonyms.value"),
    # A whole request of any API, as a broker forwards it to the controller, and its response.
    ("Envelope", "request", "request_data"),
    ("Envelope", "response", "response_data"),
)
"""(API, direction, dotted path of the field). Behind a name, in brackets: the boolean field of the structures
there that says whether it is a secret."""

_PATHS: Final = {
    (key_of(name), direction): tuple(
        tuple(path.split(".")) for other, way, path in SECRETS if (other, way) == (name, direction)
    )
    for name, direction, _ in SECRETS
}


def has_secrets(key: int, direction: Direction) -> bool:
    """Whether messages of an API in this direction may carry a secret.

    >>> has_secrets(36, "request"), has_secrets(3, "request")
    (True, False)
    """
    return (key, direction) in _PATHS


def secret_paths(key: int, direction: Direction) -> tuple[str, ...]:
    """The paths of the secrets in messages of an API, as SECRETS has them.

    >>> secret_paths(38, "response"), secret_paths(3, "request")
    (('hmac',), ())
    """
    return tuple(".".join(path) for path in _PATHS.get((key, direction), ()))


def by_field(paths: Iterable[str]) -> dict[str, str]:
    """The dotted paths of secrets, each with that of the field that says whether it is one; "": it is.

    >>> by_field(["hmac", "results.configs[is_sensitive].synonyms.value"])
    {'hmac': '', 'results.configs.synonyms.value': 'results.configs.is_sensitive'}
    """
    found = {}
    for path in paths:
        before, _, rest = path.partition("[")
        flag, _, behind = rest.partition("]")
        found[before + behind] = f"{before}.{flag}" if flag else ""
    return found


def redact(key: int, direction: Direction, body: dict[str, Any]) -> dict[str, Any]:
    """A decoded body with its secrets replaced by a text; the body itself stays as it is.

    >>> redact(36, "request", {"auth_bytes": b"hunter2"})
    {'auth_bytes': '<redacted 7 bytes>'}
    """
    for path in _PATHS.get((key, direction), ()):
        body = withheld(body, path)
    return body


def withheld(value: Any, path: tuple[str, ...] = (), flag: str = "") -> Any:
    """A value with what stands at the path in it replaced by a text; without a path, all of it.

    flag: the field of the value that says whether this is a secret; "": it is.
    """
    match value:
        case None:
            return None
        case list():
            return [withheld(item, path, flag) for item in value]
        case dict() if path:
            step, *rest = path
            name, _, inner = step.partition("[")
            if name not in value or (flag and not value.get(flag, True)):
                return value
            return value | {name: withheld(value[name], tuple(rest), inner.rstrip("]"))}
        case bytes():
            return f"<redacted {len(value)} bytes>"
    return "<redacted>"
