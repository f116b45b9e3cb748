"""Each command without the packages of an extra: its help is there, and what needs them says so in a line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from barnabas.cli.app import app
from barnabas.trouble import FINE, MISUSE
from tests.places import ROOT, SAMPLES

pytestmark = pytest.mark.slow("a process for each extra, which loads all commands")

EXTRAS: Final[dict[str, list[str]]] = tomllib.loads((ROOT / "pyproject.toml").read_text())[
    "project"
]["optional-dependencies"]

OF_DEVELOPERS: Final = ("test", "lint", "bench", "docs", "wheel")

NO_COMMAND: Final = ("pytest", "zookeeper")
"""Extras that no command needs: a plugin of pytest's, and what only barnabas.designs uses."""

BLOCKED: Final = """
import json, sys
blocked, commands = json.loads(sys.argv[1])

class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in blocked else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
import contextlib, io
from barnabas.cli.app import main
found = []
for words in commands:
    sys.argv = ["barnabas", *words]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException as problem:
            code = f"{type(problem).__name__}: {problem}"
    found.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(found))
"""

PROXY: Final = "proxy -b 127.0.0.1:9 --listen 127.0.0.1:0"
FAULTS: Final = f"{SAMPLES}/faults.pcapng"
ZSTD: Final = f"{SAMPLES}/cut-short.pcap.zst"
FUZZ: Final = "fuzz run brokers --cases 1 --db FOLDER/a.db --target"
FOLLOW: Final = "analyze --follow FOLDER --out FOLDER/out"

NEED: Final[dict[str, tuple[str, ...]]] = {
    "peers": ("peers start librdkafka", f"{FUZZ} librdkafka"),
    "states": ("fuzz states --target librdkafka",),
    "apache": (
        "peers start apache:3.9.1",
        f"{FUZZ} apache:3.9.1",
        f"{FOLLOW} --to-kafka 127.0.0.1:9 --topic t",
    ),
    "tls": (f"{PROXY} --client-tls",),
    "control": (f"{PROXY} --control 127.0.0.1:0",),
    "otlp": (f"{PROXY} --otlp http://127.0.0.1:9", f"decode {FAULTS} --otlp http://127.0.0.1:9"),
    "capture": (
        "capture --interface lo --out FOLDER/lo.pcapng",
        *(f"{command} {ZSTD}" for command in ("decode", "summary", "check", "grep orders")),
        f"convert {FAULTS} FOLDER/out.pcapng.zst",
        f"decode {SAMPLES}/tls.pcapng --tls-keys FOLDER/keys",
    ),
    "schemas": (f"decode {FAULTS} --json --schemas FOLDER",),
    "demo": ("demo --capture FOLDER/demo.pcapng",),
    "delta": (f"analyze {FAULTS} --out FOLDER/out --format delta",),
    "sail": (f"analyze {FAULTS} --out FOLDER/out --engine sail",),
    "spark": (
        f"analyze {FAULTS} --out FOLDER/out",
        "fuzz run decoders --spark --cases 1 --db FOLDER/c.db",
    ),
}
"""What needs each extra; FOLDER is an empty one."""


@cache
def _modules_by_distribution() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module, names in metadata.packages_distributions().items():
        for name in names:
            found.setdefault(canonicalize_name(name), set()).add(module)
    return found


def modules(extra: str) -> set[str]:
    """The top-level modules that an extra brings itself, and no other one that it takes in."""
    found: set[str] = set()
    for requirement in map(Requirement, EXTRAS[extra]):
        if requirement.name != "barnabas":
            # pyspark is installed in place of pyspark-client, and has the same modules
            name = {"pyspark-client": "pyspark"}.get(requirement.name, requirement.name)
            found |= _modules_by_distribution()[canonicalize_name(name)]
    return found


def run(
    blocked: set[str], commands: list[tuple[str, ...]], home: Path
) -> list[tuple[Any, str, str]]:
    """Exit code, stdout and stderr of each, one after the other in a process that lacks these modules,
    and what was downloaded before."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, json.dumps([sorted(blocked), commands])],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=home,
        env={**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home)},
    )
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout.splitlines()[-1])]


def leaves(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """All commands and groups."""
    names = command.list_commands(None) if hasattr(command, "commands") else ()
    inner = {name: command.get_command(None, name) for name in names}
    return [path] + [leaf for name, one in inner.items() for leaf in leaves(one, (*path, name))]


def test_every_command_has_its_help_with_the_core_alone(tmp_path: Path) -> None:
    commands = [(*path, "--help") for path in leaves(typer.main.get_command(app))]
    assert len(commands) > 40
    absent = set().union(*(modules(extra) for extra in EXTRAS if extra not in OF_DEVELOPERS))
    assert {"pyspark", "scapy", "confluent_kafka", "starlette", "pytest"} <= absent
    for words, (code, out, err) in zip(commands, run(absent, commands, tmp_path), strict=True):
        assert (code, err) == (FINE, ""), words
        assert "Usage" in out


def test_every_extra_is_tried() -> None:
    assert {*NEED, *NO_COMMAND, *OF_DEVELOPERS} == set(EXTRAS)


@pytest.mark.parametrize("extra", NEED)
def test_what_needs_an_extra_names_it_in_one_line(extra: str, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    (tmp_path / "17.proto").write_text("")
    commands = [tuple(one.replace("FOLDER", str(tmp_path)).split()) for one in NEED[extra]]
    for words, (code, out, err) in zip(
        commands, run(modules(extra), commands, tmp_path), strict=True
    ):
        assert isinstance(code, int), (words, code)
        assert code >= MISUSE, (words, out, err)
        said = [line for line in err.splitlines() if "install barnabas with" in line]
        assert len(said) == 1, (words, err)
        assert re.search(rf"install barnabas with the extra '{extra}'", said[0]), (words, err)
        assert "Traceback" not in err
