"""The fields that contain secrets, and how to keep secrets out of all output.

Raw tokens after SaslHandshake v0 have no fields: all of their bytes are secret.
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
"""Messages in which a Streams application states the settings of the topics to create."""

SECRETS: Final[tuple[tuple[str, Direction, str], ...]] = (
    ("SaslAuthenticate", "request", "auth_bytes"),
    ("SaslAuthenticate", "response", "auth_bytes"),
    ("AlterUserScramCredentials", "request", "upsertions.salt"),
    ("AlterUserScramCredentials", "request", "upsertions.salted_password"),
    ("CreateDelegationToken", "response", "hmac"),
    ("RenewDelegationToken", "request", "hmac"),
    ("ExpireDelegationToken", "request", "hmac"),
    ("DescribeDelegationToken", "response", "tokens.hmac"),
    # A request does not mark sensitive values, and a broker's may be the password of a key store:
    # all are withheld, and so are those of topics that a client creates.
    ("AlterConfigs", "request", "resources.configs.value"),
    ("IncrementalAlterConfigs", "request", "resources.configs.value"),
    ("CreateTopics", "request", "topics.configs.value"),
    *(
        (name, direction, f"{above}topology.subtopologies.{topics}.topic_configs.value")
        for name, direction, above in _TOPOLOGIES
        for topics in ("state_changelog_topics", "repartition_source_topics")
    ),
    # Kafka's brokers send null for a sensitive value; others may send the value.
    ("CreateTopics", "response", "topics.configs[is_sensitive].value"),
    ("DescribeConfigs", "response", "results.configs[is_sensitive].value"),
    ("DescribeConfigs", "response", "results.configs[is_sensitive].synonyms.value"),
    # A whole request of any API, as a broker forwards it to the controller, and its response.
    ("Envelope", "request", "request_data"),
    ("Envelope", "response", "response_data"),
)
"""(API, direction, dotted path of the field). A name may be followed by a boolean field in brackets: that
field of the same structure says whether the value is a secret."""

_PATHS: Final = {
    (key_of(name), direction): tuple(
        tuple(path.split("."))
        for other, each, path in SECRETS
        if (other, each) == (name, direction)
    )
    for name, direction, _ in SECRETS
}


def has_secrets(key: int, direction: Direction) -> bool:
    """Return whether messages of an API in this direction may contain a secret.

    >>> has_secrets(36, "request"), has_secrets(3, "request")
    (True, False)
    """
    return (key, direction) in _PATHS


def secret_paths(key: int, direction: Direction) -> tuple[str, ...]:
    """Return the paths of the secrets in messages of an API, in the notation of SECRETS.

    >>> secret_paths(38, "response"), secret_paths(3, "request")
    (('hmac',), ())
    """
    return tuple(".".join(path) for path in _PATHS.get((key, direction), ()))


def by_field(paths: Iterable[str]) -> dict[str, str]:
    """Return the dotted paths of secrets, each with the path of its flag field, or "" if it is always secret.

    >>> by_field(["hmac", "results.configs[is_sensitive].synonyms.value"])
    {'hmac': '', 'results.configs.synonyms.value': 'results.configs.is_sensitive'}
    """
    flags = {}
    for path in paths:
        before, _, rest = path.partition("[")
        flag, _, remainder = rest.partition("]")
        flags[before + remainder] = f"{before}.{flag}" if flag else ""
    return flags


def redact(key: int, direction: Direction, body: dict[str, Any]) -> dict[str, Any]:
    """Return a decoded body with its secrets replaced by a text; the argument stays unchanged.

    >>> redact(36, "request", {"auth_bytes": b"hunter2"})
    {'auth_bytes': '<redacted 7 bytes>'}
    """
    for path in _PATHS.get((key, direction), ()):
        body = withheld(body, path)
    return body


def withheld(value: Any, path: tuple[str, ...] = (), flag: str = "") -> Any:
    """Return a value with the part at the path replaced by a text; without a path, all of it.

    `flag` is the field of the value that says whether the part is a secret; "" means that it always is.
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
