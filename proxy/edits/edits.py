"""What the proxy changes without a rule: brokers' addresses, and the versions that it lets pass.

Both are needed so that clients stay behind the proxy; both are printed when it starts.
"""

from __future__ import annotations

from barnabas.captures.kafka.exchange import UNSUPPORTED_VERSION, body_version
from barnabas.proxy.edits.version_ranges import Offer, narrowed
from barnabas.specs import NAMES, api
from barnabas.specs.broker_addresses import PLACES, Resolve, patch, place_of
from barnabas.specs.keys import API_VERSIONS


def needs_body(key: int, version: int) -> bool:
    """Whether something in a response may be changed."""
    return key == API_VERSIONS or place_of(key, version) is not None


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


def unsupported_version(offer: Offer) -> bytes:
    """The body of the answer to an ApiVersions request newer than any on offer (KIP-511).

    It has v0's layout and tells the client the range of ApiVersions, so that it asks again.
    """
    newest = offer.newest_api_versions
    own = {"api_key": API_VERSIONS, "min_version": 0, "max_version": newest}
    values = {"error_code": UNSUPPORTED_VERSION, "api_keys": [own]}
    return api(API_VERSIONS).response.codec(0).encode(values)


def explain(offer: Offer) -> list[str]:
    """A line for each edit that is made without a rule, for the start of the proxy."""
    patched = ", ".join(
        NAMES[key] + (f" v{places[0].first}+" if places[0].first else "")
        for key, places in PLACES.items()
    )
    final = "" if offer.unstable else ", and what no release has made final (--unstable offers it)"
    return [
        f"edit: brokers' addresses are replaced by the proxy's listeners in {patched}",
        f"edit: ApiVersions leaves out APIs and versions unknown here (known: keys 0-{max(NAMES)})"
        f"{final}",
        f"edit: ApiVersions requests above v{offer.newest_api_versions} are answered with error "
        f"{UNSUPPORTED_VERSION} and that range",
        *offer.explain(),
    ]
