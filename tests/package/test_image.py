"""Containerfile: who it runs as, and what its entry point starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.package.containerfile import instructions
from tests.places import ROOT

FOUND = list(instructions((ROOT / "Containerfile").read_text()))
LAST = FOUND[max(i for i, one in enumerate(FOUND) if one.name == "FROM") :]


def the(name: str) -> str:
    (found,) = [one.rest for one in LAST if one.name == name]
    return found


def entry_point(*arguments: str) -> list[str]:
    return [*json.loads(the("ENTRYPOINT")), *arguments]


def environment() -> dict[str, str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return {**os.environ, "PATH": path}


def test_two_stages_the_last_without_what_builds() -> None:
    assert [one.rest for one in FOUND if one.name == "FROM"] == [
        "docker.io/library/debian:trixie-slim AS build",
        "docker.io/library/debian:trixie-slim",
    ]
    assert not [one for one in LAST if one.name == "RUN" and "pip" in one.rest]
    assert the("USER") not in ("", "0", "root")
    assert 'CMD ["grep",' in the("HEALTHCHECK")


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run((hadolint, ROOT / "Containerfile"), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_it_copies_builds_the_wheel() -> None:
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    found = {line[1:] for line in kept if line.startswith("!")}
    assert all((ROOT / name).exists() for name in found)
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE", "barnabas"} <= found
    links = {link.name for link in (ROOT / "barnabas").iterdir() if link.is_symlink()}
    assert links <= found
    assert not found & {".git", "tests", ".venv"}


def test_the_entry_point_is_the_command() -> None:
    done = subprocess.run(
        entry_point("--version"), capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.startswith("barnabas ")


def test_the_proxy_listens_for_others_unless_told_otherwise() -> None:
    process = subprocess.Popen(
        entry_point("proxy", "-b", "127.0.0.1:9", "--listen", "127.0.0.1:0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())["ready"]
    assert ready["listen"].startswith("127.0.0.1:")
    assert ready["pid"] == process.pid  # so that it is told of the container's end
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 0
    defaults = " ".join(entry_point())
    assert "--listen 0.0.0.0:19092 --broker-ports 19093-19102" in defaults
    assert the("EXPOSE") == "19092-19102"
