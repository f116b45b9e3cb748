"""Replaces brokers' addresses and narrows the offered versions, without any rule.

Both keep clients connected through the proxy; the proxy prints both when it starts.
"""

from __future__ import annotations

from barnabas.captures.kafka.exchange import UNSUPPORTED_VERSION, body_version
from barnabas.proxy.edits.version_ranges import Offer, narrowed
from barnabas.specs import NAMES, api
from barnabas.specs.broker_addresses import ADDRESS_FIELDS, Resolve, address_fields, patch
from barnabas.specs.keys import API_VERSIONS


def needs_body(key: int, version: int) -> bool:
    """Return whether an edit may change such a response."""
    return key == API_VERSIONS or address_fields(key, version) is not None


def edit_response(
    key: int, version: int, body: bytes, resolve: Resolve, offer: Offer
) -> bytes | None:
    """Return the body that the client gets; None if it stays unchanged.

    Raises:
        Malformed: The body cannot be read.
    """
    if key == API_VERSIONS:
        return narrow(version, body, offer)
    return patch(key, version, body, resolve)


def narrow(version: int, body: bytes, offer: Offer) -> bytes | None:
    """Return an ApiVersions response with only the offered APIs, versions and features; None if unchanged."""
    version = body_version(API_VERSIONS, version, "response", body)
    codec = api(API_VERSIONS).response.codec(version)
    values = codec.decode(body)
    offered = {"api_keys": narrowed(values["api_keys"], offer.range)}
    changed = values | offered | offer.shown_features(values)
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
    """Return the body of the response to an ApiVersions request newer than any on offer (KIP-511).

    It has v0's layout and tells the client the range of ApiVersions, so that it asks again.

    Args:
        answer: The broker's response to v0, whose range of ApiVersions counts as far as it is on offer.
        offer: The offered versions.

    Raises:
        Malformed: The broker's response cannot be read.
    """
    codec = api(API_VERSIONS).response.codec(0)
    values = codec.decode(answer)
    offered = narrowed(values["api_keys"], offer.range)
    api_versions = [entry for entry in offered if entry["api_key"] == API_VERSIONS]
    error = values["error_code"] or UNSUPPORTED_VERSION
    return codec.encode({"error_code": error, "api_keys": api_versions})


def explain(offer: Offer) -> list[str]:
    """Return a line for each edit without a rule, for the start of the proxy."""
    patched = ", ".join(
        NAMES[key] + (f" v{fields[0].first}+" if fields[0].first else "")
        for key, fields in ADDRESS_FIELDS.items()
    )
    final = (
        ""
        if offer.unstable
        else ", and versions that no release has made final (--unstable offers them)"
    )
    return [
        f"edit: brokers' addresses are replaced by the proxy's listeners in {patched}",
        f"edit: ApiVersions leaves out APIs and versions unknown here (known: keys 0-{max(NAMES)})"
        f"{final}",
        f"edit: ApiVersions requests above v{offer.newest_api_versions} reach the broker as v0; the client "
        f"gets error {UNSUPPORTED_VERSION} and the versions of ApiVersions that it can use",
        *offer.explain(),
    ]
