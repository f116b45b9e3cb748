"""The codec of one message version, in generated Python: decode, encode, projections. Made on first use.

The declaration is the source and construct the reference; a codec is equal to both, fast and bounded.

- `decoder.py`, `decoder_source.py`, `fixed_runs.py` generate decoders of regular bytes; `encoder.py`
  generates encoders.
- `careful_decoder.py` and `careful_encoder.py` handle every other body or value, and report oddities and
  errors.
- `codegen.py` writes the source; `budget.py` limits memory; `selection.py` says which fields to read.
- `spans.py`, `tail_walker.py` and `variant.py` find offsets, walk streams, and write VARIANT.
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
from barnabas.specs.codec.selection import Selection, prune, selection_of
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed

__all__ = ["Codec", "Malformed", "Oddity", "TooLarge", "Unfit"]


class Codec:
    """Reads and writes the body of one version of one message.

    Decoded values take no more memory than `barnabas.specs.codec.budget.BUDGET`; otherwise TooLarge is
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
        """Return the Python source of the generated decoder and encoder."""
        return f"{source_of(self._decode)}\n\n{source_of(self._encode)}"

    def decode(self, body: bytes) -> dict[str, Any]:
        """Return all fields of a body. Raises Malformed if Kafka's own classes would reject the body."""
        try:
            read = self._decode if len(body) <= FREE else self._charged
            return read(body)  # type: ignore[no-any-return]
        except IRREGULAR:
            return decode_carefully(self.layout, body)[0]

    def regular(self, body: bytes) -> dict[str, Any] | None:
        """Return all fields of a body without oddities, or None if it is odd or malformed.

        Raises:
            TooLarge: The values would take too much memory.

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

    def inspect(self, body: bytes, *, lenient: bool = False) -> tuple[dict[str, Any], list[Oddity]]:
        """Return all fields of a body, and its oddities. Raises Malformed.

        An oddity is something that Kafka accepts but never writes. With `lenient`, a malformed tagged field
        or a missing last tagged section is one, too, although Kafka rejects it.
        """
        return decode_carefully(self.layout, body, lenient=lenient)

    def encode(self, values: Mapping[str, Any]) -> bytes:
        """Return the bytes of a body; missing fields get their default. Raises Unfit, with the path."""
        try:
            return self._encode(values)
        except UNFIT:
            return encode_carefully(self.layout, values)

    def project(self, *paths: str) -> Callable[[bytes], dict[str, Any]]:
        """Return a decoder of these dotted paths only; it stops after the last of them.

        Paths that this version lacks are ignored. If the whole body can be decoded, the values equal those of
        `decode`. If not, the fields up to the last path may still be readable.

        >>> from barnabas import specs
        >>> request = specs.api("Metadata").request.codec(1)
        >>> request.project("topics.name")(request.encode({"topics": [{"name": "a"}]}))
        {'topics': [{'name': 'a'}]}
        """
        return self._projected(paths)

    def _selection(self, paths: tuple[str, ...]) -> Selection:
        return selection_of(tuple(path for path in paths if self.layout.find(path)))

    def _partial_decoder(self, paths: tuple[str, ...], charged: bool) -> Callable[[bytes], Any]:
        return decoder(self.layout, self.name, self._selection(paths), charged=charged)

    def _projection(self, paths: tuple[str, ...]) -> Callable[[bytes], dict[str, Any]]:
        free = self._partial(paths, False)

        def project(body: bytes) -> dict[str, Any]:
            try:
                read = free if len(body) <= FREE else self._partial(paths, True)
                return read(body)[0]  # type: ignore[no-any-return]
            except IRREGULAR:
                values = decode_carefully(self.layout, body)[0]
                return prune(values, self._selection(paths))  # type: ignore[no-any-return]

        return project

    def project_prefix(self, *paths: str) -> Callable[[bytes], tuple[dict[str, Any], int] | None]:
        r"""Return a decoder of these dotted paths from the first bytes of a body.

        It returns the values and the number of bytes it read. It returns None if the bytes end before the
        last path, or if they are odd. The values equal those of `project` for any continuation of the body.

        >>> from barnabas import specs
        >>> prefix = specs.api("Produce").request.codec(3).project_prefix("acks")
        >>> prefix(bytes.fromhex("ffff 0001 00007530 000000")), prefix(b"\xff")
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
        """Return a function that finds the addresses at these paths.

        See `barnabas.specs.codec.decoder.address_locator`.
        """
        selected = selection_of(paths)
        free = address_locator(self.layout, self.name, selected)
        charged = functools.cache(
            lambda: address_locator(self.layout, self.name, selected, charged=True)
        )
        return lambda body: (free if len(body) <= FREE else charged())(body)
