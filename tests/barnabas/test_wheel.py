"""The wheel, built and installed: beside PyPI's proxy.py, and where a user's folders have our names."""

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

from barnabas.specs import stubs
from tests.barnabas import project
from tests.places import ROOT

pytestmark = pytest.mark.slow("wheels are built and installed")

TUTORIAL = (ROOT / "docs" / "tutorials" / "pytest.md").read_text("utf-8")

PARTS = (
    "captures",
    "conform",
    "experiments",
    "fuzz",
    "page",
    "peers",
    "pipeline",
    "proxy",
    "specs",
)
"""Folders at the top of the repository; the package has links to them."""

NOT_OURS = "raise RuntimeError('a package of the project was imported in place of one of ours')\n"

IMPORT_ALL = """
import pkgutil, sys
import barnabas
for one in pkgutil.walk_packages(barnabas.__path__, "barnabas.", onerror=lambda name: sys.exit(name)):
    # a program on its own, for environments that lack what we need
    if "__main__" not in one.name and ".clients.programs." not in one.name:
        try:
            __import__(one.name)
        except ImportError as problem:
            absent = (problem.name or "").partition(".")[0]
            assert absent and absent not in PARTS and absent != "barnabas", one.name
print(len([name for name in sys.modules if name.startswith("barnabas.")]))
"""

MINE = """
    import pathlib
    import sys

    import barnabas
    import proxy

    def test_the_project_has_its_own_packages_and_the_installed_plugin(kafka_proxy):
        assert proxy.MINE
        assert pathlib.Path(barnabas.__file__).is_relative_to(sys.prefix)
        ours = {"barnabas.experiments", "barnabas.peers", "barnabas.specs"}
        assert not ours & set(sys.modules)
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
    for name in ("barnabas", *PARTS):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip("wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source))
    (built,) = folder.glob("barnabas-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment: the wheel is in it, and of ours what `pip install` with the
    extras that the tutorial names would bring, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    found = folder / "bin" / "python"
    pip("--python", str(found), "install", "--no-index", "--no-deps", str(wheel))
    (site,) = folder.glob("lib/python*/site-packages")
    (ours,) = metadata.distributions(path=[str(site)], name="barnabas")
    (extras,) = re.findall(r"^pip install '\S+\.whl\[(.+?)\]'$", TUTORIAL, re.M)
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
    assert {top for top in tops if not top.endswith(".dist-info")} == {"barnabas"}
    for name in ("barnabas", *(f"barnabas/{part}" for part in PARTS)):
        folder = ROOT / name
        expected = {
            f"{name}/{path.relative_to(folder)}"
            for path in folder.rglob("*")
            if path.suffix
            in (".py", ".typed", ".yaml", ".css", ".js", ".go", ".mod", ".sum", ".lua")
            and "__pycache__" not in path.parts
        }
        assert expected
        assert expected <= set(names)
    assert not [name for name in names if "/samples/" in name]


def test_it_has_the_types_of_all_messages(wheel: Path) -> None:
    assert zipfile.ZipFile(wheel).read("barnabas/specs/types.pyi").decode() == stubs.text()
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".pyc")]


@pytest.mark.parametrize("path", [None, "."])
def test_the_example_in_a_project_with_folders_of_our_names(
    python: Path, path: str | None, tmp_path: Path
) -> None:
    (example,) = re.findall(
        r"^```python\n# tests/test_orders\.py\n(.+?)^```$", TUTORIAL, re.M | re.S
    )
    project.write(
        tmp_path,
        {
            **{f"{name}/__init__.py": NOT_OURS for name in PARTS},
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


def test_every_module_is_ours_in_a_folder_with_such_names(python: Path, tmp_path: Path) -> None:
    project.write(tmp_path, {f"{name}/__init__.py": NOT_OURS for name in PARTS})
    (tmp_path / "all.py").write_text(f"PARTS = {PARTS}\n{IMPORT_ALL}")
    done = subprocess.run(
        [str(python), "all.py"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) > 800


def test_beside_proxy_py_both_commands_run(wheel: Path, python: Path, tmp_path: Path) -> None:
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    other = metadata.distribution("proxy.py")
    files = [file for file in other.files or () if file.parts[0] == "proxy"]
    for file in files:
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(str(other.locate_file(file)), target)
    pip(
        "--python",
        str(python),
        "install",
        "--no-index",
        "--no-deps",
        "--force-reinstall",
        str(wheel),
    )
    for file in files:
        assert (site / file).read_bytes() == Path(str(other.locate_file(file))).read_bytes()
    for command in (
        [str(python), "-m", "proxy", "--version"],
        [str(python.with_name("barnabas")), "--version"],
    ):
        done = subprocess.run(
            [*command, "--version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=tmp_path,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.strip()
