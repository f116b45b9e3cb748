"""`--tls-keys`: the keys of captured TLS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.cli.console.extras import needs
from barnabas.trouble import Trouble

if TYPE_CHECKING:
    from barnabas.captures.tls.keylog import KeyLog

_LIMIT: Final = 256 << 20


def read_keys(path: Path | None) -> KeyLog | None:
    """The key log in a file; None if none was given. Raises Trouble if it has no keys."""
    if path is None:
        return None
    from barnabas.captures.tls.keylog import KeyLog

    with needs("--tls-keys", "capture"):
        import barnabas.captures.tls.protection  # noqa: F401
    try:
        with path.open("rb") as file:
            text = file.read(_LIMIT + 1)
    except OSError as problem:
        raise Trouble(f"--tls-keys {path}: {problem.strerror}") from None
    if len(text) > _LIMIT:
        raise Trouble(
            f"--tls-keys {path}: more than {_LIMIT >> 20} MiB; give only the keys of the captured "
            "time"
        )
    keys = KeyLog(text)
    if not keys:
        raise Trouble(
            f"--tls-keys {path}: no keys found; lines like CLIENT_RANDOM HEX HEX are expected"
        )
    return keys
