"""`--tls-keys`: the keys of captured TLS, and what is to be said of what could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.trouble import COULD_NOT_RUN, Trouble

if TYPE_CHECKING:
    from barnabas.captures.reader import CaptureReader
    from barnabas.captures.tls.keylog import KeyLog

HOW: Final = (
    "TLS is read with its keys: --tls-keys FILE, which a client or broker wrote as its SSLKEYLOGFILE; "
    "or let `barnabas proxy` show what is inside"
)
_LIMIT: Final = 256 << 20
_MOST: Final = 8


def read_keys(path: Path | None) -> KeyLog | None:
    """The key log in a file; None if none was given. Raises Trouble if it has no keys."""
    if path is None:
        return None
    from barnabas.captures.tls.keylog import KeyLog

    try:
        import barnabas.captures.tls.protection  # noqa: F401
    except ImportError as problem:
        raise Trouble(
            f"--tls-keys needs the package {problem.name}: pip install 'barnabas[capture]'",
            COULD_NOT_RUN,
        ) from None
    try:
        with path.open("rb") as file:
            text = file.read(_LIMIT + 1)
    except OSError as problem:
        raise Trouble(f"--tls-keys {path}: {problem.strerror}") from None
    if len(text) > _LIMIT:
        raise Trouble(
            f"--tls-keys {path}: more than {_LIMIT >> 20} MiB; give the part of that time"
        )
    keys = KeyLog(text)
    if not keys:
        raise Trouble(
            f"--tls-keys {path}: no keys in it; it is to have lines like CLIENT_RANDOM HEX HEX"
        )
    return keys


def tls_remarks(reader: CaptureReader) -> Iterator[str]:
    """What is to be said of TLS in a capture that was read."""
    from barnabas.captures.kafka.wording import plural
    from barnabas.captures.tls.connection import NO_KEYS

    seen = reader.tls
    left_out = sum(count for (_, kind), count in reader.left_out.items() if kind == "TLS")
    if seen.read:
        yield f"{plural(seen.read, 'connection')} of TLS read with the keys"
    for why, count in seen.broken.most_common(_MOST):
        yield f"{plural(count, 'connection')} of TLS read in part: {why}"
    if not left_out:
        return
    if not reader.keys:
        yield HOW
        return
    if seen.unread[NO_KEYS] == left_out and not seen.read:
        yield "the key log has keys for none of the TLS connections"
        return
    for why, count in seen.unread.most_common(_MOST):
        yield f"{plural(count, 'TLS connection')} not read: {why}"
    if earlier := left_out - seen.unread.total():
        yield f"{plural(earlier, 'TLS connection')} not read: begun before the capture"
