"""Installs a wheel or sdist in fresh environments and tries it there, in an empty folder.

    python3.13 tests/package/trials.py dist/*.whl dist/*.tar.gz     # what `make wheel-trials` does
    python3.13 tests/package/trials.py --all dist/*-any.whl         # each extra alone, and no uvloop

The interpreter that runs it is the one that is tried; it needs nothing but pip's index. It prints a row for
each trial and ends with 1 if one failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

SAMPLES: Final = Path(__file__).parents[2] / "captures" / "samples"

PLUGIN: Final = """
def test_the_plugin_is_there(pytestconfig):
    assert pytestconfig.pluginmanager.has_plugin("barnabas")


def test_a_proxy_of_its_own(kafka_proxy):
    assert kafka_proxy.bootstrap_server
    assert kafka_proxy.scenario.rules == []
"""

CLUSTER: Final = """
from barnabas.peers.embedded import EmbeddedCluster
with EmbeddedCluster(1) as cluster:
    print(cluster.bootstrap)
"""

KFAKE: Final = """
import json, os, subprocess, sys
from pathlib import Path
from confluent_kafka import Producer
here = Path(sys.executable).parent
line = [here / "barnabas", "--until-eof", "peers", "start", "embedded"]
pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
with subprocess.Popen(line, **pipes, env={**os.environ, "PATH": str(here)}) as process:
    ready = json.loads(process.stdout.readline())["ready"]
    producer = Producer({"bootstrap.servers": ready["bootstrap"], "transactional.id": "t"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", b"value")
    producer.commit_transaction(30)
    note = process.communicate()[1].decode()
assert (ready["kind"], process.returncode) == ("kfake", 0), ready
assert note.startswith("kfake "), note
"""
"""Without a built kfake and without Go, which a build would announce in the note."""

PROTOBUF: Final = """
from pathlib import Path
from barnabas.captures.values.value import Values
from barnabas.cli.schemas.folder import from_folder
Path("17.proto").write_text('syntax = "proto3"; message Order { int64 id = 1; }')
found = Values(from_folder(Path())).read(bytes((0, 0, 0, 0, 17, 0, 8, 5)), [])
assert (found.kind, found.value) == ("protobuf", {"id": 5}), found
"""

JAVA: Final = "import jgo, jpype; from barnabas.peers.apache.java import java; print(java())"

REGISTRY: Final = "import kazoo.client, barnabas.designs.brokers.registry.zookeeper"

PLUGINS: Final = """
from barnabas.plugins import load, references
for group in ("dialects", "brokers", "peers", "experiments"):
    found = references(group)
    assert found, group
    for name, reference in found.items():
        load(name, reference)
"""

PROXY: Final = ("barnabas", "proxy", "-b", "127.0.0.1:9", "--listen", "127.0.0.1:0")
"""It connects to its brokers when a client connects, so that none need be there."""


class Trial(NamedTuple):
    """What is installed, and what is run there; `serves`: until it says that it is ready."""

    extras: str
    commands: tuple[tuple[str, ...], ...]
    serves: bool = False
    without: str = ""
    """A package that is removed first."""


CORE: Final = Trial(
    "",
    (
        ("barnabas", "--version"),
        ("barnabas", "decode", str(SAMPLES / "faults.pcapng")),
        ("python", "-c", PLUGINS),
    ),
)
DEMO: Final = Trial("demo", (("barnabas", "demo"),))
PYTEST: Final = Trial("pytest,peers", (("python", "-m", "pytest", "-q"),))

QUICK: Final = (CORE, DEMO, PYTEST)
"""What each artefact must pass."""

PLATFORM: Final = (Trial("peers", (("python", "-c", KFAKE),)),)
"""What a wheel with kfake must pass; the rest of it is the pure wheel's."""

ALL: Final = (
    *QUICK,
    DEMO._replace(without="uvloop"),
    Trial("peers", (("python", "-c", CLUSTER),)),
    Trial("apache", (("python", "-c", JAVA),)),
    Trial("zookeeper", (("python", "-c", REGISTRY),)),
    Trial("tls", ((*PROXY, "--client-tls"),), serves=True),
    Trial("control", ((*PROXY, "--control", "127.0.0.1:0"),), serves=True),
    Trial("schemas", (("python", "-c", PROTOBUF),)),
    Trial("otlp", ((*PROXY, "--otlp", "http://127.0.0.1:9"),), serves=True),
    Trial(
        "capture",
        (
            ("barnabas", "decode", str(SAMPLES / "cut-short.pcap.zst")),
            (
                "python",
                "-c",
                "import barnabas.captures.tcp.through_scapy, barnabas.captures.tls.protection",
            ),
        ),
    ),
    Trial("spark", (("barnabas", "analyze", str(SAMPLES / "faults.pcapng"), "--out", "report"),)),
    Trial("sail", (("barnabas", "analyze", str(SAMPLES / "faults.pcapng"), "--out", "report"),)),
)


class FailedError(Exception):
    """What went wrong, in one line."""


def run(command: list[str], folder: Path, limit: float, codes: tuple[int, ...] = (0,)) -> str:
    """Its output; raises FailedError unless it ends with one of these exit codes."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            timeout=limit,
            check=False,
            env=environment(folder),
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"took longer than {limit:.0f} s: {command[-1]}") from None
    if done.returncode not in codes or "Traceback (most recent call last)" in done.stdout:
        said = [line for line in done.stdout.splitlines() if line.strip()] or ["nothing"]
        errors = [line for line in said if "ERROR" in line or "rror:" in line]
        raise FailedError(f"exit code {done.returncode}: {(errors or said)[-1].strip()}")
    return done.stdout


def serve(command: list[str], folder: Path) -> None:
    """Start it, read that it is ready, stop it as a service manager does."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=(folder / "stderr").open("w"),
        text=True,
        cwd=folder,
        env=environment(folder),
    )
    line = process.stdout.readline() if process.stdout else ""
    process.terminate()
    process.communicate(timeout=60)
    if "ready" not in line or process.returncode:
        said = (folder / "stderr").read_text().splitlines() or ["nothing"]
        raise FailedError(f"exit code {process.returncode}: {said[-1]}")
    json.loads(line)


def environment(folder: Path) -> dict[str, str]:
    """Ours without what would let it find another barnabas."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        kept.pop(name, None)
    return {**kept, "HOME": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def attempt(artefact: Path, trial: Trial) -> None:
    """Install and run it. Raises FailedError."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True, symlinks=True)
        bin_ = home / "env" / "bin"
        what = f"{artefact}[{trial.extras}]" if trial.extras else str(artefact)
        cache = os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
        pip = [str(bin_ / "python"), "-m", "pip", "--cache-dir", cache]
        run([*pip, "install", "--quiet", what], home, 900)
        if trial.without:
            run([*pip, "uninstall", "--quiet", "--yes", trial.without], home, 120)
        empty = home / "empty"
        empty.mkdir()
        if "pytest" in trial.extras:
            (empty / "test_plugin.py").write_text(PLUGIN)
        for program, *arguments in trial.commands:
            command = [str(bin_ / program), *arguments]
            if trial.serves:
                serve(command, empty)
            else:
                run(command, empty, 300, (0, 1) if "analyze" in arguments else (0,))


def interpreter() -> str:
    """Its version as CPython names its builds: 3.14.0t has no GIL."""
    return sys.version.split()[0] + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "")


def rows(artefacts: list[Path], trials: tuple[Trial, ...]) -> Iterator[tuple[str, bool]]:
    """A row of Markdown for each trial, and whether it passed."""
    for artefact in artefacts:
        pure = artefact.name.endswith(("-any.whl", ".tar.gz"))
        for trial in trials if pure else PLATFORM:
            extras = trial.extras or "(none)"
            if trial.without:
                extras += f", no {trial.without}"
            try:
                attempt(artefact.resolve(), trial)
            except FailedError as problem:
                yield f"| {interpreter()} | {artefact.name} | {extras} | FAIL: {problem} |", False
            else:
                yield f"| {interpreter()} | {artefact.name} | {extras} | pass |", True


def main() -> int:
    """Try what is given; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("artefacts", nargs="+", type=Path)
    parser.add_argument("--all", action="store_true", help="each extra alone, and no uvloop")
    given = parser.parse_args()
    lacking = [str(path) for path in given.artefacts if not path.is_file()]
    if lacking:
        parser.error(f"no such file: {', '.join(lacking)}")
    passed = True
    for row, ok in rows(given.artefacts, ALL if given.all else QUICK):
        print(row, flush=True)
        passed = passed and ok
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
