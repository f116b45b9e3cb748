"""What an import of `specs` loads, and what it leaves until it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_an_import_loads_no_declaration_and_no_library() -> None:
    loaded = set(run("import sys; from barnabas import specs; print(*sys.modules)").split())
    assert "barnabas.specs.codec" in loaded
    assert not loaded & {"barnabas.specs.records", "barnabas.specs.embedded"}
    assert not loaded & {"construct", "cramjam", "pydantic"}
    assert not any(name.startswith("barnabas.specs.apis.") for name in loaded)


def test_one_api_loads_only_its_own_declaration() -> None:
    loaded = run(
        "import sys; from barnabas import specs; specs.api('Fetch'); print(*sys.modules)"
    ).split()
    assert [name for name in loaded if name.startswith("barnabas.specs.apis.")] == [
        "barnabas.specs.apis.fetch"
    ]


@pytest.mark.parametrize("package", ["records", "embedded"])
def test_packages_are_there_when_they_are_named(package: str) -> None:
    assert (
        run(f"from barnabas import specs; print(specs.{package}.__name__)")
        == f"barnabas.specs.{package}"
    )


def test_another_name_is_an_error() -> None:
    code = "from barnabas import specs\ntry: specs.nothing\nexcept AttributeError as e: print(e)"
    assert run(code) == "module 'barnabas.specs' has no attribute 'nothing'"
