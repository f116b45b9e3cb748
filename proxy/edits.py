"""What the proxy changes without a rule: brokers' addresses, and the versions that it lets pass.

Both are needed so that clients stay behind the proxy; both are printed when it starts.
"""

from __future__ import annotations

from typing import Any, Final

from captures.exchange import UNSUPPORTED_VERSION, body_version
from specs import NAMES, api
from specs.addresses import LEAKING, PLACES, Resolve, patch, place_of
from specs.headers import API_VERSIONS

NEWEST_API_VERSIONS: Final = api(API_VERSIONS).versions[1]


def needs_body(key: int, version: int) -> bool:
    """Whether a response must be held until it is whole, because something in it may be changed."""
    return key == API_VERSIONS or place_of(key, version) is not None


def edit_response(key: int, version: int, body: bytes, resolve: Resolve) -> bytes | None:
    """The body as the client shall see it, or None if it may stay as it is. Raises Malformed."""
    if key == API_VERSIONS:
        return narrow(version, body)
    return patch(key, version, body, resolve)


def ceiling(key: int) -> int | None:
    """The newest version of an API that may pass: what is declared, and leaks no address.

    None for an API that is unknown or leaks in every version.

    >>> ceiling(1), ceiling(55), ceiling(82), ceiling(12345)
    (18, 1, None, None)
    """
    if key not in NAMES:
        return None
    newest = api(key).versions[1]
    if key in LEAKING:
        newest = min(newest, LEAKING[key] - 1)
    return newest if newest >= 0 else None


def narrow(version: int, body: bytes) -> bytes | None:
    """An ApiVersions response without the APIs and versions that may not pass."""
    version = body_version(API_VERSIONS, version, "response", body)
    codec = api(API_VERSIONS).response.codec(version)
    values = codec.decode(body)
    kept: list[dict[str, Any]] = []
    for entry in values["api_keys"]:
        newest = ceiling(entry["api_key"])
        if newest is None or newest < entry["min_version"]:
            continue
        kept.append(entry | {"max_version": min(entry["max_version"], newest)})
    if kept == values["api_keys"]:
        return None
    return codec.encode(values | {"api_keys": kept})


def refusal() -> bytes:
    """The body of the answer to an ApiVersions request newer than any that is known (KIP-511).

    It has v0's layout and tells the client the range of ApiVersions, so that it asks again.
    """
    own = {"api_key": API_VERSIONS, "min_version": 0, "max_version": NEWEST_API_VERSIONS}
    values = {"error_code": UNSUPPORTED_VERSION, "api_keys": [own]}
    return api(API_VERSIONS).response.codec(0).encode(values)


def explain() -> list[str]:
    """A line for each edit that is made without a rule, for the start of the proxy."""
    patched = ", ".join(
        NAMES[key] + (f" v{places[0].first}+" if places[0].first else "")
        for key, places in PLACES.items()
    )
    capped = ", ".join(
        f"{NAMES[key]} v{first}+" if first else NAMES[key] for key, first in LEAKING.items()
    )
    return [
        f"edit: brokers' addresses are replaced by the proxy's listeners in {patched}",
        f"edit: ApiVersions leaves out what could leak an address: {capped}",
        f"edit: ApiVersions leaves out APIs and versions unknown here (known: keys 0-{max(NAMES)})",
        f"edit: ApiVersions requests above v{NEWEST_API_VERSIONS} are answered with error "
        f"{UNSUPPORTED_VERSION} and that range",
    ]
