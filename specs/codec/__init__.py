"""One version of a message as generated Python: decode, encode, projections. Made on first use.

The declaration is the source and construct the reference; this is the same, fast and bounded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from barnabas.specs.codec.budget import FREE, TooLarge
from barnabas.specs.codec.careful_decoder import Oddity, decode_carefully
from barnabas.specs.codec.careful_encoder import Unfit, encode_carefully
from barnabas.specs.codec.codegen import source_of
from barnabas.specs.codec.decoder import (
    IRREGULAR,
    address_locator,
    decoder,
)
from barnabas.specs.codec.encoder import UNFIT, encoder
from barnabas.specs.codec.wanted import Wanted, prune, wanted_tree
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed

__all__ = ["Codec", "Malformed", "Oddity", "TooLarge", "Unfit"]


class Codec:
    """Reads and writes the body of one version of one message.

    What is read of a body takes no more memory than `barnabas.specs.codec.budget.BUDGET`: else TooLarge is
    raised, which is a Malformed.
    """

    def __init__(self, layout: Layout, name: str) -> None:
        self.layout = layout
        self.name = name
        self._partial = functools.cache(self._partial_decoder)
        self._projected = functools.cache(self._projection)
        self._prefix_projected = functools.cache(self._prefix_projection)

    @functools.cached_property
    def _decode(self) -> Callable[[bytes], Any]:
        return decoder(self.layout, self.name)

    @functools.cached_property
    def _charged(self) -> Callable[[bytes], Any]:
        return decoder(self.layout, self.name, charged=True)

    @functools.cached_property
    def _encode(self) -> Callable[[Any], bytes]:
        return encoder(self.layout, self.name)

    def source(self) -> str:
        """The Python source of the generated decoder and encoder of regular bodies."""
        return f"{source_of(self._decode)}\n\n{source_of(self._encode)}"

    def decode(self, body: bytes) -> dict[str, Any]:
        """All fields of a body. Raises Malformed where Kafka's own classes would too."""
        try:
            read = self._decode if len(body) <= FREE else self._charged
            return read(body)  # type: ignore[no-any-return]
        except IRREGULAR:
            return decode_carefully(self.layout, body)[0]

    def regular(self, body: bytes) -> dict[str, Any] | None:
        """All fields of a body in which nothing is odd; None if something is, or if it is malformed.

        Raises TooLarge.

        >>> from barnabas import specs
        >>> request = specs.api("Metadata").request.codec(1)
        >>> request.regular(bytes(4)), request.regular(bytes(5))
        ({'topics': []}, None)
        """
        try:
            read = self._decode if len(body) <= FREE else self._charged
            return read(body)  # type: ignore[no-any-return]
        except IRREGULAR:
            return None

    def inspect(self, body: bytes) -> tuple[dict[str, Any], list[Oddity]]:
        """All fields of a body, and what Kafka accepts in it but never writes. Raises Malformed."""
        return decode_carefully(self.layout, body)

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """The bytes of a body; missing fields take their default. Raises Unfit, with the path."""
        try:
            return self._encode(values)
        except UNFIT:
            return encode_carefully(self.layout, values)

    def project(self, *paths: str) -> Callable[[bytes], dict[str, Any]]:
        """A decoder of these dotted paths only; it stops behind the last of them.

        Paths that this version does not have are left out. If the whole body can be decoded, this is
        what `decode` has at these paths; if not, it may still be read up to there.

        >>> from barnabas import specs
        >>> request = specs.api("Metadata").request.codec(1)
        >>> request.project("topics.name")(request.encode({"topics": [{"name": "a"}]}))
        {'topics': [{'name': 'a'}]}
        """
        return self._projected(paths)

    def _wanted(self, paths: tuple[str, ...]) -> Wanted:
        return wanted_tree(tuple(path for path in paths if self.layout.find(path)))

    def _partial_decoder(self, paths: tuple[str, ...], charged: bool) -> Callable[[bytes], Any]:
        return decoder(self.layout, self.name, self._wanted(paths), charged=charged)

    def _projection(self, paths: tuple[str, ...]) -> Callable[[bytes], dict[str, Any]]:
        free = self._partial(paths, False)

        def project(body: bytes) -> dict[str, Any]:
            try:
                read = free if len(body) <= FREE else self._partial(paths, True)
                return read(body)[0]  # type: ignore[no-any-return]
            except IRREGULAR:
                values = decode_carefully(self.layout, body)[0]
                return prune(values, self._wanted(paths))  # type: ignore[no-any-return]

        return project

    def project_prefix(self, *paths: str) -> Callable[[bytes], tuple[dict[str, Any], int] | None]:
        """A decoder of these dotted paths from the first bytes of a body, and how many it read.

        It returns None if these bytes do not reach that far, or if anything in them is odd. What it
        does return is what `project` would make of the whole body, whatever that goes on with.

        >>> from barnabas import specs
        >>> prefix = specs.api("Produce").request.codec(3).project_prefix("acks")
        >>> prefix(bytes.fromhex("ffff 0001 00007530 000000")), prefix(b"\\xff")
        (({'acks': 1}, 4), None)
        """
        return self._prefix_projected(paths)

    def _prefix_projection(
        self, paths: tuple[str, ...]
    ) -> Callable[[bytes], tuple[dict[str, Any], int] | None]:
        fast = self._partial(paths, False)

        def project(body: bytes) -> tuple[dict[str, Any], int] | None:
            try:
                return fast(body)  # type: ignore[no-any-return]
            except IRREGULAR:
                return None

        return project

    def locate(self, *paths: str) -> Callable[[bytes], Any]:
        """Where the addresses at these paths stand (see `barnabas.specs.codec.decoder.address_locator`)."""
        wanted = wanted_tree(paths)
        free = address_locator(self.layout, self.name, wanted)
        charged = functools.cache(
            lambda: address_locator(self.layout, self.name, wanted, charged=True)
        )
        return lambda body: (free if len(body) <= FREE else charged())(body)
