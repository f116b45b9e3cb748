"""The command line in this process: a process of its own takes as long as a hundred tests."""

from __future__ import annotations

import io
import json
import sys
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main

from barnabas.cli import app


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Its JSON Lines."""
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def document(self) -> Any:
        """Its JSON."""
        return json.loads(self.stdout)


def run(*arguments: object, cwd: Path | None = None, stdin: str = "") -> Ran:
    """Run a command to its end, as a process would."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, chdir(cwd or Path.cwd()):
        patch.setattr(app, "app", _tree() if "--help" in arguments else _kept_tree())
        patch.setattr(sys, "argv", ["barnabas", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", errors)
        with pytest.raises(SystemExit) as ended:
            app.main()
    return Ran(int(ended.value.code or 0), _text(out), _text(errors))


def _tree() -> Any:
    """The tree of commands, as Typer builds it for each call."""
    return typer.main.get_command(app.app)


_kept_tree = cache(_tree)  # that takes most of a short call's time; but help is shown only once


def _text(written: io.TextIOWrapper) -> str:
    written.flush()
    return written.detach().getvalue().decode()  # type: ignore[attr-defined, no-any-return]
