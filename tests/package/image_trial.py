"""Run the steps of Containerfile without a container engine: each stage is a copy of a Debian root.

`make image-trial` makes the root with debootstrap and calls this as root. It prints each step; then the
image's user starts a proxy by the entry point, and the health check has to succeed. Registries are reached as
on the host: the roots get its resolver, its certificates and pip's variables.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.package.containerfile import instructions
from tests.places import ROOT
from tests.waiting import SOON

HOST: Final = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
PROXY: Final = ("proxy", "-b", "127.0.0.1:9")


class Stage:
    """A root folder, and what instructions set for those after them."""

    def __init__(self, base: Path, root: Path) -> None:
        self.root, self.user, self.folder = root, "0", "/"
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        subprocess.run(("cp", "-a", base, root), check=True)
        for path in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
            shutil.copy(path, root / path[1:])

    def command(self, *words: str) -> list[str]:
        """The command that runs words in this root, with its own mounts, which end with it."""
        user = f"--userspec={self.user}:{self.user}"
        inside = ["/usr/sbin/chroot", user, str(self.root), "/usr/bin/env", "-C", self.folder]
        script = f"mount -t proc proc {self.root}/proc && exec {shlex.join([*inside, *words])}"
        return ["unshare", "--mount", "/bin/sh", "-c", script]

    def run(self, *words: str) -> None:
        """Run words in this root. Raises CalledProcessError."""
        subprocess.run(self.command(*words), env={**HOST, **self.environment}, check=True)

    def copy(self, words: list[str], stages: dict[str, Stage]) -> None:
        """Copy from another stage, or what .dockerignore leaves of the repository."""
        if words[0].startswith("--from="):
            origin = stages[words[0].removeprefix("--from=")].root / words[1][1:]
            subprocess.run(("cp", "-a", origin, self.root / words[2][1:]), check=True)
            return
        target = self.root / words[-1][1:]
        kept = (ROOT / ".dockerignore").read_text().splitlines()
        for name in (line[1:] for line in kept if line.startswith("!")):
            into = target / name
            into.parent.mkdir(parents=True, exist_ok=True)
            ignored = shutil.ignore_patterns("__pycache__")
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, into, symlinks=True, ignore=ignored)
            else:
                shutil.copy(ROOT / name, into)


def main(base: Path) -> None:
    """Try all instructions, then the image. Raises CalledProcessError, or AssertionError."""
    with tempfile.TemporaryDirectory() as folder:
        stages: dict[str, Stage] = {}
        last = {}
        for name, rest in instructions((ROOT / "Containerfile").read_text()):
            print(f"{name} {rest}", flush=True)
            last[name] = rest
            match name:
                case "FROM":
                    stage = Stage(base, Path(folder) / str(len(stages)))
                    stages[rest.split()[-1]] = stage
                case "ARG" | "ENV":
                    variable, _, value = rest.partition("=")
                    stage.environment[variable] = value
                case "RUN":
                    stage.run("/bin/sh", "-c", rest)
                case "COPY":
                    stage.copy(rest.split(), stages)
                case "USER":
                    stage.user = rest
                case "WORKDIR":
                    stage.folder = rest
        health = last["HEALTHCHECK"].partition("CMD ")[2]
        check_image(stage, json.loads(last["ENTRYPOINT"]), json.loads(health))


def check_image(image: Stage, entry_point: list[str], health: list[str]) -> None:
    """Start the proxy as the image does, in a network of its own, and look at its health."""
    image.run(*entry_point, "--version")
    start = ["unshare", "--net", *image.command(*entry_point, *PROXY)]
    with subprocess.Popen(start, env=image.environment) as proxy:
        check = ["nsenter", "--net", f"--target={proxy.pid}", *image.command(*health)]
        try:
            until = time.monotonic() + SOON
            while subprocess.run(check, env=image.environment, check=False).returncode:
                assert proxy.poll() is None, "it has ended"
                assert time.monotonic() < until, "it is not healthy"
                time.sleep(0.2)
            print("healthy", flush=True)
        finally:
            proxy.terminate()
    assert proxy.returncode == 0


if __name__ == "__main__":
    main(Path(sys.argv[1]))
