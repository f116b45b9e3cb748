"""Decides which versions pass: known ones, narrowed to an older release or to given maxima.

If a client sends a request of another version, the proxy reacts as Kafka's brokers do. ApiVersions is
answered with error 35 in v0 (KIP-511). Any other request closes the connection once all earlier requests are
answered (SocketServer; observed for 2.8.0 to 4.3.1).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from barnabas.specs import NAMES, api, key_of
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.releases import Range, features, offered


@functools.cache
def ceiling(key: int, unstable: bool = False) -> int | None:
    """Return the newest version of an API that may pass; None if the API is unknown or not final.

    Args:
        key: The API key.
        unstable: Whether versions may pass that no release has made final.

    >>> ceiling(5), ceiling(55), ceiling(12345)
    (4, 2, None)
    """
    if key not in NAMES:
        return None
    newest = api(key).versions[1] if unstable else api(key).stable
    return newest if newest >= 0 else None


def narrowed(
    entries: Iterable[dict[str, Any]], range_of: Callable[[int], Range | None]
) -> list[dict[str, Any]]:
    """Return the `api_keys` of ApiVersions with only the versions in these ranges; None removes an API."""
    offered = []
    for entry in entries:
        low, high = range_of(entry["api_key"]) or (0, -1)
        low, high = max(low, entry["min_version"]), min(high, entry["max_version"])
        if low <= high:
            offered.append(entry | {"min_version": low, "max_version": high})
    return offered


class Offer:
    """The versions that clients are offered, as far as the broker has them too.

    Args:
        release: Offer no more than this release of Kafka did.
        newest: The newest offered version by API key.
        unstable: Whether to offer versions that no release has made final.

    Raises:
        LookupError: The release is unknown.

    >>> offer = Offer("2.8", {1: 11})
    >>> offer.range(1), offer.range(3), offer.range(68)
    ((0, 11), (0, 11), None)
    >>> offer.excludes(1, 12), offer.excludes(68, 0), Offer().excludes(1, 99)
    (True, True, False)
    """

    def __init__(
        self,
        release: str | None = None,
        newest: Mapping[int, int] | None = None,
        unstable: bool = False,
    ) -> None:
        self.release = release
        self.unstable = unstable
        self.newest = dict(newest or {})
        self._released = None if release is None else offered(release)
        self._features = None if release is None else features(release)

    def range(self, key: int) -> Range | None:
        """Return the versions of an API that may be offered; None if the API may not be offered at all."""
        low, high = 0, ceiling(key, self.unstable)
        if high is None:
            return None
        if self._released is not None:
            if key not in self._released:
                return None
            low, latest = self._released[key]
            high = min(high, latest)
        high = min(high, self.newest.get(key, high))
        return (low, high) if low <= high else None

    @functools.cached_property
    def newest_api_versions(self) -> int:
        """Return the newest version of an ApiVersions request that reaches the broker."""
        versions = self.range(API_VERSIONS)
        return 0 if versions is None else versions[1]

    def excludes(self, key: int, version: int) -> bool:
        """Return whether a request may not pass because options restrict the versions; never ApiVersions."""
        if key == API_VERSIONS:
            return False
        if version > self.newest.get(key, version):
            return True
        if self._released is None:
            return False
        low, high = self._released.get(key, (0, -1))
        return not low <= version <= high

    def shown_features(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the feature fields of an ApiVersions response, without newer features.

        A client adopts new protocols (transactions of KIP-890, groups of KIP-848) if their features are
        finalized, so an older release must not show them.
        """
        if self._features is None or "supported_features" not in values:
            return {}
        released = self._features
        supported = [
            feature | {"max_version": min(feature["max_version"], released[feature["name"]])}
            for feature in values["supported_features"]
            if feature["min_version"] <= released.get(feature["name"], -1)
        ]
        finalized = [
            feature
            | {
                name: min(feature[name], released[feature["name"]])
                for name in ("min_version_level", "max_version_level")
            }
            for feature in values["finalized_features"]
            if feature["name"] in released
        ]
        return {"supported_features": supported, "finalized_features": finalized}

    def explain(self) -> list[str]:
        """Return a line for each restriction of the offer."""
        lines = []
        if self.release is not None:
            lines.append(
                f"edit: ApiVersions offers no more than Kafka {self.release} did, and no later "
                f"features (--pretend)"
            )
        if self.newest:
            most = ", ".join(f"{NAMES[key]} v{self.newest[key]}" for key in sorted(self.newest))
            lines.append(f"edit: ApiVersions offers at most {most} (--max-version)")
        if lines:
            lines.append(
                "edit: a request of a version that is not offered closes its connection once what "
                "came before it is answered, as a broker does"
            )
        return lines


def parse_newest(texts: Iterable[str]) -> dict[int, int]:
    """Return the newest version by API key, from texts like `Fetch=11` or `1=11,Produce=7`.

    Raises:
        ValueError: A text is invalid.

    >>> parse_newest(["fetch=11,3=8", "Produce=7"])
    {1: 11, 3: 8, 0: 7}
    """
    newest: dict[int, int] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, _, version = part.partition("=")
        if not (name and version.isdecimal() and len(version) < 6):
            raise ValueError(f"{part!r} is not an API and version such as Fetch=11")
        try:
            newest[key_of(name.strip())] = int(version)
        except LookupError as problem:
            raise ValueError(str(problem)) from None
    return newest
