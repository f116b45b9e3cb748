"""What the proxy changes without a rule: brokers' addresses, and the versions that it lets pass.

Both are needed so that clients stay behind the proxy; both are printed when it starts.
"""

from __future__ import annotations

from barnabas.captures.kafka.exchange import UNSUPPORTED_VERSION, body_version
from barnabas.proxy.edits.version_ranges import Offer, narrowed
from barnabas.specs import NAMES, api
from barnabas.specs.broker_addresses import ADDRESS_FIELDS, Resolve, address_fields, patch
from barnabas.specs.keys import API_VERSIONS


def needs_body(key: int, version: int) -> bool:
    """Whether something in a response may be changed."""
    return key == API_VERSIONS or address_fields(key, version) is not None


def edit_response(
    key: int, version: int, body: bytes, resolve: Resolve, offer: Offer
) -> bytes | None:
    """The body as the client shall see it, or None if it may stay as it is. Raises Malformed."""
    if key == API_VERSIONS:
        return narrow(version, body, offer)
    return patch(key, version, body, resolve)


def narrow(version: int, body: bytes, offer: Offer) -> bytes | None:
    """An ApiVersions response without the APIs, versions and features that may not pass."""
    version = body_version(API_VERSIONS, version, "response", body)
    codec = api(API_VERSIONS).response.codec(version)
    values = codec.decode(body)
    kept = {"api_keys": narrowed(values["api_keys"], offer.range)}
    changed = values | kept | offer.shown_features(values)
    return None if changed == values else codec.encode(changed)


def asked_as_oldest(frame: bytes) -> bytes:
    """Return an ApiVersions request of any version as one of v0, which is a header alone.

    >>> asked_as_oldest(bytes.fromhex("00000010 0012 0063 00000007 0002 6d65 ffffffff")).hex(" ", 2)
    '0000 000c 0012 0000 0000 0007 0002 6d65'
    """
    client_id = max(int.from_bytes(frame[12:14], signed=True), 0)
    head = frame[4:6] + bytes(2) + frame[8 : 14 + client_id]
    return len(head).to_bytes(4) + head


def unsupported_version(answer: bytes, offer: Offer) -> bytes:
    """Return the body of the answer to an ApiVersions request newer than any on offer (KIP-511).

    It has v0's layout and tells the client the range of ApiVersions, so that it asks again.

    Args:
        answer: What the broker answers to v0: the range is its own, as far as it is on offer.
        offer: What clients are offered.

    Raises:
        Malformed: The broker's answer can't be read.
    """
    codec = api(API_VERSIONS).response.codec(0)
    values = codec.decode(answer)
    kept = narrowed(values["api_keys"], offer.range)
    own = [entry for entry in kept if entry["api_key"] == API_VERSIONS]
    error = values["error_code"] or UNSUPPORTED_VERSION
    return codec.encode({"error_code": error, "api_keys": own})


def explain(offer: Offer) -> list[str]:
    """A line for each edit that is made without a rule, for the start of the proxy."""
    patched = ", ".join(
        NAMES[key] + (f" v{places[0].first}+" if places[0].first else "")
        for key, places in ADDRESS_FIELDS.items()
    )
    final = "" if offer.unstable else ", and what no release has made final (--unstable offers it)"
    return [
        f"edit: brokers' addresses are replaced by the proxy's listeners in {patched}",
        f"edit: ApiVersions leaves out APIs and versions unknown here (known: keys 0-{max(NAMES)})"
        f"{final}",
        f"edit: ApiVersions requests above v{offer.newest_api_versions} reach the broker as v0, and are "
        f"answered with error {UNSUPPORTED_VERSION} and the range that is left of its own",
        *offer.explain(),
    ]
