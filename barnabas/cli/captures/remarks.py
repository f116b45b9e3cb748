"""Notes for the user on a capture that was read: its missing parts, and what was not shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from barnabas.captures.capture import Capture
from barnabas.captures.conversion.reconstruction import remark
from barnabas.captures.files.capture_folder import ranges
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tls.connection import NO_KEYS
from barnabas.plural import plural
from barnabas.specs.dialects import Dialect

HOW: Final = (
    "TLS can't be read without its keys: give --tls-keys FILE, written by a client or broker "
    "with SSLKEYLOGFILE, or capture with `barnabas proxy`, which terminates TLS"
)
_MOST: Final = 8


_NAMED: Final = 3
"""The most files of a folder that are named as no captures."""


def no_captures(others: Mapping[Path, str]) -> Iterator[str]:
    """Name the files of folders that are not captures, in one line. others: see `Listing`."""
    names = [
        f"{path} ({reason})" if reason else str(path)
        for path, reason in list(others.items())[:_NAMED]
    ]
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    if names:
        kind = "a capture" if len(others) == 1 else "captures"
        yield f"left out, not {kind}: {', '.join(names)}{more}"


def lacking(capture: Capture) -> Iterator[str]:
    """Yield notes on what could not be read: other files, missing segments, and TLS without its keys."""
    yield from no_captures(capture.reader.others)
    if not capture.reader.numbered:
        yield f"{capture.name} has no packets"
    for numbers in capture.reader.missing.values():
        here = "is" if len(numbers) == 1 else "are"
        count = plural(len(numbers), "segment")
        yield f"{capture.name}: {count} {here} missing: {ranges(numbers)}"
    yield from _tls(capture.reader)


def remarks(capture: Capture, spoken: Dialect | None = None) -> Iterator[str]:
    """Yield notes on a capture that was read: what was left out, by kind, and the dialect."""
    reader, name = capture.reader, capture.name
    sliced = reader.meta.get("slice")
    if isinstance(sliced, list):
        yield f"{name} is a slice: {', of '.join(map(str, sliced))}"
    if text := remark(reader.meta):
        yield f"{name} is a reconstruction: {text}"
    if reader.truncated:
        yield f"{name} ends in the middle of a block; everything before it is shown"
    if reader.left_out:
        text = ", ".join(
            f"{count} {kind} on port {port}"
            for (port, kind), count in sorted(reader.left_out.items(), key=lambda item: -item[1])[
                :8
            ]
        )
        more = ", ..." if len(reader.left_out) > 8 else ""
        total = plural(sum(reader.left_out.values()), "connection")
        yield f"not Kafka, left out: {total} ({text}{more})"
    packets = reader.packets
    if packets.foreign:
        yield f"{plural(packets.foreign, 'packet')} without TCP"
    for kind, count in packets.unread.items():
        need = "need scapy: install barnabas with the extra 'capture'"
        yield f"{plural(count, 'packet')} of kind {kind} {need}"
    if packets.cut:
        yield f"{plural(packets.cut, 'segment')} cut short by the capture's snap length"
    if packets.fragments.given_up:
        yield f"{plural(packets.fragments.given_up, 'datagram')} with a missing IP fragment"
    if spoken is not None:
        yield f"read as the dialect {spoken.name}: {spoken.title}"


def left_over(conversations: Conversations) -> Iterator[str]:
    """Yield notes on the bytes of a capture's conversations that are in no exchange."""
    if conversations.earlier:
        count = plural(conversations.earlier, "response")
        yield f"{count} not shown: the requests are in an earlier segment, which was not given"
    if conversations.skipped:
        yield f"{plural(conversations.skipped, 'byte')} in which no frame was found"


def unread(frames: int, too_large: int, spoken: Dialect | None) -> Iterator[str]:
    """Yield notes on frames and exchanges that could not be decoded. spoken: The dialect of the capture."""
    if frames:
        other = "" if spoken is None else "; if the dialect is another, name it with --dialect"
        count = plural(frames, "frame")
        yield f"{count} undecodable or without a request, content unknown{other}"
    if too_large:
        yield f"{plural(too_large, 'exchange')} with a body too large to decode"


def _tls(reader: CaptureReader) -> Iterator[str]:
    """Yield notes on TLS in a capture that was read."""
    tls = reader.tls
    left_out = sum(count for (_, kind), count in reader.left_out.items() if kind == "TLS")
    if tls.read:
        yield f"{plural(tls.read, 'TLS connection')} decrypted"
    for reason, count in tls.broken.most_common(_MOST):
        yield f"{plural(count, 'TLS connection')} decrypted in part: {reason}"
    if not left_out:
        return
    if not reader.keys:
        yield HOW
        return
    if tls.unread[NO_KEYS] == left_out and not tls.read:
        yield "the key log has no key of any of the TLS connections"
        return
    for reason, count in tls.unread.most_common(_MOST):
        yield f"{plural(count, 'TLS connection')} not decrypted: {reason}"
    if earlier := left_out - tls.unread.total():
        yield f"{plural(earlier, 'TLS connection')} not decrypted: opened before the capture"
