"""Facts about the files of a capture, from a reader that has read them, as values of JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from barnabas.captures.comments import began
from barnabas.captures.files.capture_folder import ranges, size_of
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.reader import CaptureReader
from barnabas.plural import plural


def capture_facts(reader: CaptureReader, problem: CaptureError | None) -> dict[str, Any]:
    """Return what each reader of the capture knows. `problem`: the error that it raised."""
    meta = reader.meta
    notes = [(began(meta), {**meta, "barnabas": "section"})] if meta else []
    notes += [(note.ts_ns, note.comment) for note in reader.notes]
    return {
        "sections": reader.sections,
        "packets": reader.numbered,
        "notes": notes,
        "faults": _faults(reader, problem),
    }


def _faults(reader: CaptureReader, problem: CaptureError | None) -> list[dict[str, Any]]:
    """Return the parts of the files that could not be read."""
    faults = []
    for (path, offset), damage in reader.damage.items():
        if problem and problem.offset == damage.at:
            problem = None
        reason = damage.reason if damage.at == offset else f"byte {damage.at}: {damage.reason}"
        faults.append(_fault(path, offset, damage.bytes, "corrupt", reason))
    for path, offset in reader.cut.items():
        size = max(size_of(path) - offset, 0)
        faults.append(_fault(path, offset, size, "truncated", "the file ends within a block"))
    for numbers in reader.missing.values():
        segments = f"segments of the capture are missing: {ranges(numbers)}"
        faults.append(_fault(None, 0, 0, "missing", segments))
    if problem is not None:
        faults.append(_fault(None, problem.offset, 0, "corrupt", problem.reason))
    return faults


def _fault(path: Path | None, offset: int, size: int, kind: str, reason: str) -> dict[str, Any]:
    file = None if path is None else str(path)
    return {"file": file, "offset": offset, "bytes": size, "kind": kind, "reason": reason}


def unread_facts(reader: CaptureReader) -> dict[str, Any]:
    """Return what the reader of a share has left out of it: conversations by port and protocol, and TLS."""
    return {
        "left_out": [[port, kind, count] for (port, kind), count in reader.left_out.items()],
        "without_keys": sorted(reader.tls.unread),
        "read_in_part": sorted(reader.tls.broken),
    }


def unread_faults(
    left_out: Mapping[tuple[int, str], int],
    without_keys: Collection[str],
    read_in_part: Collection[str],
    forgotten: int,
) -> Iterator[dict[str, Any]]:
    """Yield values of the table `errors` for what the readers of all shares have not read.

    Args:
        left_out: Conversations of other protocols, by server port and protocol.
        without_keys: Reasons why conversations of TLS were not decrypted.
        read_in_part: Reasons why they were decrypted only in part.
        forgotten: Names that were dropped because there were too many.
    """
    for (port, protocol), count in sorted(left_out.items()):
        reason = f"{plural(count, 'conversation')} on port {port}: {protocol}"
        if protocol == "TLS" and without_keys:
            reason += f" ({', '.join(sorted(without_keys))})"
        yield {"kind": "left out", "reason": reason}
    for reason in sorted(read_in_part):
        yield {"kind": "TLS", "reason": f"read in part: {reason}"}
    if forgotten:
        yield {"kind": "forgotten", "reason": forgotten_reason(forgotten)}


def forgotten_reason(count: int) -> str:
    """Return the reason why names may be missing.

    >>> forgotten_reason(7)
    '7 topics, groups or sessions forgotten: too many'
    """
    return f"{count} topics, groups or sessions forgotten: too many"
