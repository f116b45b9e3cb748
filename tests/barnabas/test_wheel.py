"""The wheel, built and installed, in a project whose folders are named as ours, with the README's example."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from barnabas.__main__ import OURS
from tests.barnabas import project

README = (project.ROOT / "README.md").read_text()

NOT_OURS = "raise RuntimeError('a package of the project was imported in place of one of ours')\n"

MINE = """
    import pathlib
    import sys

    import barnabas
    import proxy

    def test_the_project_has_its_own_packages_and_the_installed_plugin(kafka_proxy):
        assert proxy.MINE
        assert pathlib.Path(barnabas.__file__).is_relative_to(sys.prefix)
        ours = {"captures", "experiments", "peers", "specs"}
        assert not {name.partition(".")[0] for name in sys.modules} & ours
        assert kafka_proxy.scenario.rules == []
"""


def pip(*arguments: str) -> None:
    """Without an index: all that is needed is there. On PYTHONPATH it would find us installed already."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=110, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, since building leaves files in the source."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in (*OURS, "tests"):
        shutil.copytree(project.ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(project.ROOT / name, source)
    pip("wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source))
    (built,) = folder.glob("barnabas-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment: the wheel is in it, and of ours what `pip install` with the
    extras that the README names would bring, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    found = folder / "bin" / "python"
    pip("--python", str(found), "install", "--no-index", "--no-deps", str(wheel))
    (site,) = folder.glob("lib/python*/site-packages")
    (ours,) = metadata.distributions(path=[str(site)], name="barnabas")
    (extras,) = re.findall(
        r"^`pip install 'barnabas\[(.+?)\]'` brings a pytest plugin", README, re.M
    )
    for other in needed(ours, extras.split(",")).values():
        for top in {file.parts[0] for file in other.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(other.locate_file(top))))
    return found


def needed(
    one: metadata.Distribution, extras: Iterable[str]
) -> dict[tuple[str, frozenset[str]], metadata.Distribution]:
    """All that a distribution with these extras requires, as far as it goes, by name and extras."""
    found: dict[tuple[str, frozenset[str]], metadata.Distribution] = {}

    def add(one: metadata.Distribution, extras: Iterable[str]) -> None:
        for requirement in map(Requirement, one.requires or ()):
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                continue
            key = canonicalize_name(requirement.name), frozenset(requirement.extras)
            if key not in found:
                ours = key[0] == "barnabas"
                found[key] = top if ours else metadata.distribution(requirement.name)
                add(found[key], requirement.extras)

    top = one
    add(one, extras)
    return {key: other for key, other in found.items() if key[0] != "barnabas"}


def test_it_has_our_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(OURS)
    for name in OURS:
        files = (project.ROOT / name).rglob("*")
        expected = {
            str(path.relative_to(project.ROOT))
            for path in files
            if path.suffix in (".py", ".typed", ".yaml", ".css", ".js")
            and "__pycache__" not in path.parts
        }
        assert expected <= set(names)
    assert not [name for name in names if "/samples/" in name]


@pytest.mark.parametrize("path", [None, "."])
def test_the_example_in_a_project_with_folders_of_our_names(
    python: Path, path: str | None, tmp_path: Path
) -> None:
    (example,) = re.findall(r"^```python\n# tests/test_orders\.py\n(.+?)^```$", README, re.M | re.S)
    project.write(
        tmp_path,
        {
            **{f"{name}/__init__.py": NOT_OURS for name in OURS if name != "barnabas"},
            "proxy/__init__.py": "MINE = True\n",
            "tests/__init__.py": "",
            "tests/test_mine.py": MINE,
            "tests/test_orders.py": example,
        },
    )
    environment = project.environment() | ({} if path is None else {"PYTHONPATH": path})
    if path is None:
        environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-rA"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
