"""Messages and APIs: named fields over all versions, and the codecs of one version.

A version has a layout and two back-ends that read and write it: `barnabas.specs.reference` with construct,
and `barnabas.specs.codec` with generated Python.
"""

from __future__ import annotations

import functools
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any

from barnabas.specs.codec import Codec
from barnabas.specs.declaration import FOREVER, Field
from barnabas.specs.layout import Layout, resolve

if TYPE_CHECKING:
    import construct


@dataclass(frozen=True, eq=False)
class Message:
    """One direction of an API (or a header, or a data message): its fields over all versions."""

    fields: tuple[Field, ...]
    name: str
    versions: tuple[int, int]
    flexible: int

    def __init__(
        self,
        *fields: Field,
        name: str = "",
        versions: tuple[int, int] = (0, FOREVER),
        flexible: int = FOREVER,
    ) -> None:
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "versions", versions)
        object.__setattr__(self, "flexible", flexible)

    def of(self, name: str, versions: tuple[int, int], flexible: int) -> Message:
        """Return a message with these fields and the given name, versions and first flexible version."""
        return Message(*self.fields, name=name, versions=versions, flexible=flexible)

    def layout(self, version: int, release: str | None = None) -> Layout:
        """Return the layout of one version, in the newest release or in the named one.

        Raises:
            LookupError: The version is not declared.
            ValueError: The text is not a release.
        """
        return _layout(self, version, release)

    def at(self, version: int, release: str | None = None) -> construct.Struct[Any]:
        """Return one version as a plain construct.Struct: the reference for valid frames."""
        return _reference(self, version, release)

    def codec(self, version: int, release: str | None = None) -> Codec:
        """Return the codec of one version: equal to the reference, fast and bounded. It is cached."""
        return _codec(self, version, release)


@functools.cache
def _layout(message: Message, version: int, release: str | None) -> Layout:
    low, high = message.versions
    if not low <= version <= high:
        raise LookupError(f"{message.name} has versions {low} to {high}, not {version}")
    return resolve(message.fields, version, release, flexible=version >= message.flexible)


@functools.cache
def _reference(message: Message, version: int, release: str | None) -> construct.Struct[Any]:
    from barnabas.specs.reference import reference  # construct takes long to import

    return reference(message.layout(version, release))


@functools.cache
def _codec(message: Message, version: int, release: str | None) -> Codec:
    newest = message.codec(version) if release is not None else None
    layout = message.layout(version, release)
    if newest is not None and newest.layout == layout:
        return newest  # most messages are the same in every release
    return Codec(layout, f"{message.name}_v{version}{f' of {release}' if release else ''}")


@dataclass(frozen=True, eq=False)
class Api:
    """An API: its key, all versions that any release had, and both directions.

    Attributes:
        flexible: The first version with compact and tagged encoding (KIP-482).
        unstable: The first version that is still in development (Kafka's latestVersionUnstable), or None.
            Brokers offer
            it only with `unstable.api.versions.enable`.
    """

    key: int = -1
    name: str = ""
    _: KW_ONLY
    versions: tuple[int, int]
    request: Message
    response: Message
    flexible: int = FOREVER
    unstable: int | None = None

    def __post_init__(self) -> None:
        """Name the messages after the API."""
        for direction in ("request", "response"):
            name = f"{self.name}{direction.capitalize()}"
            message = self.message(direction).of(name, self.versions, self.flexible)
            object.__setattr__(self, direction, message)

    @property
    def stable(self) -> int:
        """Return the newest version that a release has made final."""
        return self.versions[1] if self.unstable is None else self.unstable - 1

    def of(self, key: int, name: str) -> Api:
        """Return the same declaration with this key and name."""
        return replace(self, key=key, name=name)

    def message(self, direction: str) -> Message:
        """Return the message of a direction, "request" or "response"."""
        return self.request if direction == "request" else self.response
