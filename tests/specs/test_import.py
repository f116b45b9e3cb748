"""What an import of `specs` loads, and what it leaves until it is needed."""

from __future__ import annotations

import subprocess
import sys


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
