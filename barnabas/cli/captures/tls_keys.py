"""The value of `--tls-keys`: the keys of captured TLS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.cli.console.extras import needs
from barnabas.trouble import Trouble, os_errors

if TYPE_CHECKING:
    from barnabas.captures.tls.keylog import KeyLog

_LIMIT: Final = 256 << 20


def read_keys(path: Path | None) -> KeyLog | None:
    """Read a key log; None: no file was given. Raises Trouble if it is unreadable or has no keys."""
    if path is None:
        return None
    from barnabas.captures.tls.keylog import KeyLog

    with needs("--tls-keys", "capture"):
        import barnabas.captures.tls.protection  # noqa: F401
    with os_errors(f"--tls-keys {path}"), path.open("rb") as file:
        text = file.read(_LIMIT + 1)
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
