"""The command line in this process: a process of its own takes as long as a hundred tests."""

from __future__ import annotations

import io
import sys
from contextlib import chdir
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from barnabas.cli.app import main


def run(*arguments: str, cwd: Path | None = None, stdin: str = "") -> CompletedProcess[str]:
    """What the command says and its exit code, as a process would have them."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, chdir(cwd or Path.cwd()):
        patch.setattr(sys, "argv", ["barnabas", *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", errors)
        with pytest.raises(SystemExit) as ended:
            main()
    return CompletedProcess(arguments, int(ended.value.code or 0), _text(out), _text(errors))


def _text(written: io.TextIOWrapper) -> str:
    written.flush()
    return written.detach().getvalue().decode()  # type: ignore[attr-defined, no-any-return]
