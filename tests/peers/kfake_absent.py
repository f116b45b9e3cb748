"""Environments in which a program finds no kfake that is built."""

from __future__ import annotations

import os
from pathlib import Path


def with_go(version: str, folder: Path) -> dict[str, str]:
    """Changes of an environment: a Go of that version which builds nothing, and an empty cache."""
    program = folder / "go"
    build = f'[ "$1 $2" = "env GOVERSION" ] && echo {version} && exit; echo no network >&2; exit 1'
    program.write_text(f"#!/bin/sh\n{build}\n")
    program.chmod(0o755)
    path = os.pathsep.join((str(folder), os.environ["PATH"]))
    return {"PATH": path, "XDG_CACHE_HOME": str(folder / "cache")}
