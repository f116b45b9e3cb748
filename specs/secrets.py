"""Which fields carry secrets, and how they are kept out of whatever is printed.

Raw tokens behind SaslHandshake v0 have no fields: all of their bytes are secret.
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.specs.frames import Direction
from barnabas.specs.registry import key_of

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
    # of a key store: all are withheld. DescribeConfigs needs no line: brokers send null instead.
    ("AlterConfigs", "request", "resources.configs.value"),
    ("IncrementalAlterConfigs", "request", "resources.configs.value"),
    # A whole request of any API, as a broker forwards it to the controller, and its response.
    ("Envelope", "request", "request_data"),
    ("Envelope", "response", "response_data"),
)
"""(API, direction, dotted path of the field)."""

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
    """The dotted paths of the secrets in messages of an API.

    >>> secret_paths(38, "response"), secret_paths(3, "request")
    (('hmac',), ())
    """
    return tuple(".".join(path) for path in _PATHS.get((key, direction), ()))


def redact(key: int, direction: Direction, body: dict[str, Any]) -> dict[str, Any]:
    """A decoded body with its secrets replaced by a text; the body itself stays as it is.

    >>> redact(36, "request", {"auth_bytes": b"hunter2"})
    {'auth_bytes': '<redacted 7 bytes>'}
    """
    for path in _PATHS.get((key, direction), ()):
        body = withheld(body, path)
    return body


def withheld(value: Any, path: tuple[str, ...] = ()) -> Any:
    """A value with what stands at the path in it replaced by a text; without a path, all of it."""
    match value:
        case None:
            return None
        case list():
            return [withheld(item, path) for item in value]
        case dict() if path:
            name, *rest = path
            if name not in value:
                return value
            return value | {name: withheld(value[name], tuple(rest))}
        case bytes():
            return f"<redacted {len(value)} bytes>"
    return "<redacted>"
