from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.code_swap import swap
from tests.mutation.operators import mutants
from tests.mutation.report import rows_of
from tests.places import ROOT

SOURCE = '''
"""A module."""
LIMIT = 3


def first(items: list[int], least: int = 1) -> int | None:
    """Return the first one that is large enough."""
    for item in items:
        if item >= least and not item == 7:
            return item
    return None


class Box:
    @property
    def full(self) -> bool:
        self.looks += 1
        return len(self.things) + 1 > 2
'''


def changes(source: str) -> list[tuple[int, str, str]]:
    return [(one.line, one.before, one.after) for one in mutants("m.py", source)]


def test_each_change_is_in_a_function_and_is_python() -> None:
    found = mutants("m.py", SOURCE)
    assert {one.function for one in found} == {"first", "Box.full"}
    for one in found:
        ast.parse(one.applied(SOURCE))


@pytest.mark.parametrize(
    "change",
    [
        (9, ">=", ">"),
        (9, "and", "or"),
        (9, "not ", ""),
        (9, "==", "!="),
        (9, "7", "8"),
        (9, "item >= least and not item == 7", "False"),
        (10, "item", "None"),
        (17, "self.looks += 1", "pass"),
        (18, "+", "-"),
        (18, ">", ">="),
    ],
)
def test_what_somebody_might_write_by_mistake(change: tuple[int, str, str]) -> None:
    assert change in changes(SOURCE)


def test_texts_annotations_and_defaults_stay() -> None:
    found = changes("def f(a: int = 1) -> str | None:\n    '''Not 1.'''\n    return 'a' + 'b'\n")
    assert found == [(3, "'a' + 'b'", "None")]


@pytest.mark.parametrize("file", ["proxy/connection/send_queue.py", "captures/kafka/wording.py"])
def test_mutants_of_our_own_modules_are_python(file: str) -> None:
    source = (ROOT / file).read_text()
    found = mutants(file, source)
    assert len(found) > 50
    for one in found:
        ast.parse(one.applied(source))


def test_a_function_has_the_code_of_the_change_wherever_it_is_held(tmp_path: Path) -> None:
    file = tmp_path / "made.py"
    file.write_text("def one():\n    return 1\n")
    made: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), made)
    held = made["one"]
    assert callable(held)
    (change,) = [each for each in mutants(str(file), file.read_text()) if each.after == "2"]
    swap(str(file), "one", change.applied(file.read_text()))
    assert held() == 2


TWICE = """
import os, sys, pytest
from tests.mutation.session import run

class Twice:
    def pytest_runtestloop(self, session):
        for item in [*session.items, *session.items]:
            run(item, None)
        return True

sys.exit(pytest.main(["--doctest-modules", "-c", os.devnull, sys.argv[1]], [Twice()]))
"""


def test_a_doctest_that_is_run_again_finds_its_names(tmp_path: Path) -> None:
    source = 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n'
    (tmp_path / "made.py").write_text(source)
    found = subprocess.run(
        [sys.executable, "-c", TWICE, str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert "2 passed" in found.stdout, found.stdout + found.stderr


def test_results_of_runs_that_were_killed_or_ran_at_a_time_are_read(tmp_path: Path) -> None:
    file = tmp_path / "results"
    assert rows_of(file) == []
    rows = [{"name": name, "begin": 1} for name in ("a", "b")]
    lines = [json.dumps(one) + "\n" for one in (*rows, *rows)]
    file.write_text("".join(lines) + '{"name": "c", "beg')
    assert rows_of(file) == rows


def test_a_part_that_is_not_there_is_an_error() -> None:
    command = [sys.executable, "-m", "tests.mutation", "proxy/nothing"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (found.returncode, "proxy/nothing is no folder" in found.stderr) == (2, True)
