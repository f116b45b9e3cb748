"""What a person is told of a capture that was read: what it lacks, and what of it was not shown."""

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
"""Files of a folder that are named as no captures."""


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
    """What could not be read: other files, segments that are missing, and TLS without its keys."""
    yield from no_captures(capture.reader.others)
    if not capture.reader.numbered:
        yield f"{capture.name} has no packets"
    for numbers in capture.reader.missing.values():
        here = "is" if len(numbers) == 1 else "are"
        count = plural(len(numbers), "segment")
        yield f"{capture.name}: {count} {here} missing: {ranges(numbers)}"
    yield from _tls(capture.reader)


def remarks(capture: Capture, spoken: Dialect | None = None) -> Iterator[str]:
    """What a capture that was read has, and was not shown: a line for each kind; and as what it was read."""
    reader, name = capture.reader, capture.name
    sliced = reader.meta.get("slice")
    if isinstance(sliced, list):
        yield f"{name} is a slice: {', of '.join(map(str, sliced))}"
    if said := remark(reader.meta):
        yield f"{name} is a reconstruction: {said}"
    if reader.truncated:
        yield f"{name} ends in the middle of a block; everything before it is shown"
    if reader.left_out:
        said = ", ".join(
            f"{count} {kind} on port {port}"
            for (port, kind), count in sorted(reader.left_out.items(), key=lambda item: -item[1])[
                :8
            ]
        )
        more = ", ..." if len(reader.left_out) > 8 else ""
        total = plural(sum(reader.left_out.values()), "connection")
        yield f"not Kafka, left out: {total} ({said}{more})"
    packets = reader.packets
    if packets.foreign:
        yield f"{plural(packets.foreign, 'packet')} without TCP"
    for kind, count in packets.unread.items():
        yield f"{plural(count, 'packet')} of kind {kind} need scapy: pip install 'barnabas[capture]'"
    if packets.cut:
        yield f"{plural(packets.cut, 'segment')} cut short by the capture's snap length"
    if packets.fragments.given_up:
        yield f"{plural(packets.fragments.given_up, 'datagram')} with a missing IP fragment"
    if spoken is not None:
        yield f"read as the dialect {spoken.name}: {spoken.title}"


def left_over(found: Conversations) -> Iterator[str]:
    """What the conversations of a capture could make no exchanges of."""
    if found.earlier:
        count = plural(found.earlier, "response")
        yield f"{count} not shown: the requests are in an earlier segment, which was not given"
    if found.skipped:
        yield f"{plural(found.skipped, 'byte')} in which no frame was found"


def unread(frames: int, too_large: int, spoken: Dialect | None) -> Iterator[str]:
    """Frames and exchanges that could not be decoded. spoken: as what they were read."""
    if frames:
        other = "" if spoken is None else "; if the dialect is another, name it with --dialect"
        count = plural(frames, "frame")
        yield f"{count} undecodable or without a request, of which nothing is known{other}"
    if too_large:
        yield f"{plural(too_large, 'exchange')} with a body too large to decode"


def _tls(reader: CaptureReader) -> Iterator[str]:
    """What is to be said of TLS in a capture that was read."""
    seen = reader.tls
    left_out = sum(count for (_, kind), count in reader.left_out.items() if kind == "TLS")
    if seen.read:
        yield f"{plural(seen.read, 'TLS connection')} decrypted"
    for why, count in seen.broken.most_common(_MOST):
        yield f"{plural(count, 'TLS connection')} decrypted in part: {why}"
    if not left_out:
        return
    if not reader.keys:
        yield HOW
        return
    if seen.unread[NO_KEYS] == left_out and not seen.read:
        yield "the key log has no key of any of the TLS connections"
        return
    for why, count in seen.unread.most_common(_MOST):
        yield f"{plural(count, 'TLS connection')} not decrypted: {why}"
    if earlier := left_out - seen.unread.total():
        yield f"{plural(earlier, 'TLS connection')} not decrypted: opened before the capture"
