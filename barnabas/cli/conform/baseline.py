"""The file of known failures: `barnabas conform --baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml

from barnabas.cli.conform.checks import ALL
from barnabas.nearest import did_you_mean
from barnabas.trouble import Trouble, os_errors

BASELINE_LIMIT: Final = 1 << 20
"""Bytes of the file with known failures."""


def read_baseline(path: Path | None) -> dict[str, str]:
    """Read known failures: a mapping of names to reasons, or a list of names.

    Raises Trouble if the file is unreadable, or names no check.
    """
    if path is None:
        return {}
    try:
        with os_errors(f"--baseline {path}"), path.open("rb") as file:
            text = file.read(BASELINE_LIMIT + 1)
        if len(text) > BASELINE_LIMIT:
            raise Trouble(f"--baseline {path}: longer than {BASELINE_LIMIT >> 20} MiB")
        document = yaml.safe_load(text.decode()) or {}
    except (yaml.YAMLError, RecursionError, ValueError):
        raise Trouble(f"--baseline {path}: not a YAML file") from None
    if isinstance(document, list):
        document = {str(name): "" for name in document}
    if not isinstance(document, dict):
        raise Trouble(f"--baseline {path}: expected names of checks, each with a reason")
    known = {check.name for check in ALL}
    for name in document:
        if name not in known:
            raise Trouble(f"--baseline {path}: no check {name!r}{did_you_mean(str(name), known)}")
    return {str(name): str(reason or "") for name, reason in document.items()}
