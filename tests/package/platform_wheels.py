"""Makes a wheel for each platform of a pure one, which is kept: with the program of kfake and its licences.

    python -m tests.package.platform_wheels dist/*.whl            # for all platforms: what `make wheel` does
    python -m tests.package.platform_wheels --here dist/*.whl     # for this machine

Go builds the programs. The same sources and the same Go give the same bytes on any machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import go
from barnabas.peers.kfake import FLAGS, SETTINGS, SOURCES

TAGS: Final = {
    ("linux", "amd64"): ("manylinux_2_17_x86_64", "musllinux_1_1_x86_64"),
    ("linux", "arm64"): ("manylinux_2_17_aarch64", "musllinux_1_1_aarch64"),
    ("darwin", "amd64"): ("macosx_12_0_x86_64",),
    ("darwin", "arm64"): ("macosx_12_0_arm64",),
}
"""GOOS and GOARCH -> the wheel's platforms. Linux programs are static; Go 1.26 needs macOS 12."""

HERE: Final = (
    sys.platform,
    {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine()),
)

LICENSES: Final = "kfake.txt"
EXPRESSION: Final = "Apache-2.0 AND BSD-3-Clause AND MIT"
"""Of a wheel with kfake: klauspost/compress has parts under Apache-2.0 and MIT."""

MODULES: Final = "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"


def sources(folder: Path) -> Path:
    """The folder, with the program's sources in it."""
    for source in SOURCES:
        shutil.copy(source, folder)
    return folder


def run_go(folder: Path, *words: str, **more: str) -> str:
    """What Go prints."""
    environment = {**os.environ, "GOWORK": "off", **SETTINGS, **more}
    line = [go(), *words]
    return subprocess.run(
        line, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def program(folder: Path, system: str, machine: str) -> bytes:
    """The program for a platform, built of the sources in a folder."""
    path = folder / f"kfake-{system}-{machine}"
    run_go(folder, "build", *FLAGS, "-o", str(path), ".", GOOS=system, GOARCH=machine)
    return path.read_bytes()


def licenses(folder: Path) -> str:
    """The licences of the modules that the program has, and of Go."""
    modules = sorted(set(run_go(folder, "list", "-deps", "-f", MODULES, ".").splitlines()) - {""})
    named = [line.split("\t") for line in modules]
    named.append(
        [run_go(folder, "env", "GOVERSION").strip(), run_go(folder, "env", "GOROOT").strip()]
    )
    texts = [
        f"{name}\n\n{(Path(where) / 'LICENSE').read_text().strip()}\n" for name, where in named
    ]
    return f"\n{'=' * 80}\n\n".join(texts)


def add_to(wheel: Path, tags: tuple[str, ...], content: bytes, terms: str) -> Path:
    """A new wheel beside a pure one, for a platform, with the program and its licences."""
    with tempfile.TemporaryDirectory() as temporary:
        unpacked = Path(temporary)
        run_wheel("unpack", "--dest", temporary, str(wheel))
        (root,) = unpacked.iterdir()
        (info,) = root.glob("*.dist-info")
        path = root / "barnabas" / "peers" / "kfake" / "bin" / "kfake"
        path.parent.mkdir()
        path.write_bytes(content)
        path.chmod(0o755)
        (info / "licenses" / LICENSES).write_text(terms)
        replace(
            info / "METADATA",
            ("License-Expression: Apache-2.0", f"License-Expression: {EXPRESSION}"),
            ("License-File: LICENSE", f"License-File: LICENSE\nLicense-File: {LICENSES}"),
        )
        lines = "\n".join(f"Tag: py3-none-{tag}" for tag in tags)
        purelib = ("Root-Is-Purelib: true", "Root-Is-Purelib: false")
        replace(info / "WHEEL", purelib, ("Tag: py3-none-any", lines))
        run_wheel("pack", "--dest-dir", str(wheel.parent), str(root))
    return wheel.with_name(wheel.name.replace("-any.whl", f"-{'.'.join(sorted(tags))}.whl"))


def run_wheel(*words: str) -> None:
    """Unpack or pack; files have the same time in each wheel."""
    line = [sys.executable, "-m", "wheel", *words]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1577836800"}
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=environment)


def replace(path: Path, *changes: tuple[str, str]) -> None:
    """Replace lines of a file, which must be there."""
    text = path.read_text()
    for old, new in changes:
        if f"{old}\n" not in text:
            raise ValueError(f"{path.name} has no line {old!r}")
        text = text.replace(f"{old}\n", f"{new}\n")
    path.write_text(text)


def main() -> int:
    """Make the wheels; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("wheel", type=Path, help="the pure wheel")
    parser.add_argument("--here", action="store_true", help="for this machine only")
    given = parser.parse_args()
    if not given.wheel.is_file():
        print(f"{given.wheel}: no such wheel; `make wheel` builds it", file=sys.stderr)
        return 2
    try:
        go()
    except UnavailableClientError:
        print("no go on the path: the pure wheel only, without kfake", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = sources(Path(temporary))
        terms = licenses(folder)
        for system, machine in [HERE] if given.here else TAGS:
            content = program(folder, system, machine)
            made = add_to(given.wheel, TAGS[system, machine], content, terms)
            sizes = f"{made.stat().st_size / 1e6:.1f} MB, kfake {len(content) / 1e6:.1f} MB"
            print(f"{made.name}: {sizes}, sha256 {sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
