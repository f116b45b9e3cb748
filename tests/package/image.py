"""Builds the image's root file system from Containerfile where no container engine runs, and tries it.

    python -m tests.package.image FOLDER proxy -b 127.0.0.1:9092

It needs root, mmdebstrap, and Debian's mirror and pip's index as the machine has them set up. Each stage is
a Debian system in FOLDER; the instructions of Containerfile are carried out there with chroot, and at the
end its entry point is run in the last one, as its user. It shares the machine's network, so that no ports
are mapped.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.places import ROOT

NETWORK: Final = ("etc/resolv.conf", "etc/hosts")
"""What an engine gives a build of the machine's network."""

AUTHORITIES: Final = "etc/pip-authorities.pem"
"""Where a build finds the certificates that the machine's pip trusts (PIP_CERT), if they are its own."""


class Instruction(NamedTuple):
    """A line of Containerfile."""

    name: str
    rest: str


def instructions(text: str) -> Iterator[Instruction]:
    """Its lines without comments, continued ones as one."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield Instruction(name.upper(), rest.strip())


class Stage:
    """A root file system that grows."""

    def __init__(self, folder: Path, base: str) -> None:
        self.folder = folder
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        self.user, self.workdir = "0", "/"
        self.entry: list[str] = []
        folder.parent.mkdir(parents=True, exist_ok=True)
        suite = base.rpartition(":")[2].removesuffix("-slim")
        _run(
            "mmdebstrap",
            "--mode=root",
            "--variant=minbase",
            '--aptopt=Acquire::Check-Valid-Until "false"',
            suite,
            str(folder),
        )
        for name in NETWORK:
            shutil.copy(Path("/", name), folder / name)
        if "PIP_CERT" in os.environ:
            shutil.copy(os.environ["PIP_CERT"], folder / AUTHORITIES)

    def command(self, arguments: Sequence[str]) -> list[str]:
        """To run something in it."""
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        place = ["sh", "-c", 'cd "$0" && exec "$@"', self.workdir]
        return [
            "chroot",
            f"--userspec={self.user}:{self.user}",
            str(self.folder),
            *("env", "-i", *settings, *place, *arguments),
        ]

    def run(self, script: str) -> None:
        """A RUN instruction."""
        trust = f"export PIP_CERT=/{AUTHORITIES}; " if "PIP_CERT" in os.environ else ""
        _run(*self.command(["sh", "-ec", trust + script]))

    def put(self, source: Path, target: str) -> None:
        """A COPY instruction; links stay links."""
        path = self.folder / target.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        _run("cp", "-a", f"{source}/.", _made(path))


def build(folder: Path) -> Stage:
    """Carry out Containerfile; returns its last stage."""
    stages: dict[str, Stage] = {}
    now: Stage | None = None
    for name, rest in instructions((ROOT / "Containerfile").read_text()):
        if name == "FROM":
            base, _, alias = rest.partition(" AS ")
            now = stages[alias or "last"] = Stage(folder / (alias or "last"), base)
            continue
        assert now is not None, "FROM comes first"
        match name, shlex.split(rest) if name == "COPY" else [rest]:
            case "RUN", _:
                now.run(rest)
            case "COPY", [".", target]:
                now.put(context(folder / "context"), target)
            case "COPY", [source, path, target]:
                stage = stages[source.removeprefix("--from=")]
                now.put(stage.folder / path.lstrip("/"), target)
            case (("ARG" | "ENV"), _):
                key, _, value = rest.partition("=")
                now.environment[key] = value
            case "USER", _:
                now.user = rest
            case "WORKDIR", _:
                now.workdir = rest
            case "ENTRYPOINT", _:
                now.entry = json.loads(rest)
            case (("EXPOSE" | "HEALTHCHECK" | "CMD"), _):
                pass
            case _:
                raise ValueError(f"Containerfile: {name} {rest} is not understood here")
    assert now is not None, "there is a stage"
    return now


def context(folder: Path) -> Path:
    """What COPY sees: what .dockerignore leaves."""
    folder.mkdir(parents=True)
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line.startswith("!"):
            _run("cp", "-a", str(ROOT / line[1:]), str(folder))
    return folder


def _made(path: Path) -> str:
    path.mkdir(parents=True, exist_ok=True)
    return str(path)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def main() -> int:
    """Build it in a folder and run it; returns the exit code."""
    folder, *arguments = sys.argv[1:]
    stage = build(Path(folder).resolve())
    return subprocess.run(stage.command([*stage.entry, *arguments]), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
