from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    result = mutants("m.py", SOURCE)
    assert {one.function for one in result} == {"first", "Box.full"}
    for one in result:
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
    result = changes("def f(a: int = 1) -> str | None:\n    '''Not 1.'''\n    return 'a' + 'b'\n")
    assert result == [(3, "'a' + 'b'", "None")]


@pytest.mark.parametrize("file", ["proxy/connection/send_queue.py", "captures/kafka/wording.py"])
def test_mutants_of_our_own_modules_are_python(file: str) -> None:
    source = (ROOT / file).read_text()
    result = mutants(file, source)
    assert len(result) > 50
    for one in result:
        ast.parse(one.applied(source))


def test_a_function_has_the_code_of_the_change_wherever_it_is_held(tmp_path: Path) -> None:
    file = tmp_path / "made.py"
    file.write_text("def one():\n    return 1\n")
    made: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), made)
    held = made["one"]
    assert callable(held)
    (change,) = [each for each in mutants(str(file), file.read_text()) if each.after == "2"]
    swap(str(file), "one", file.read_text(), change.applied(file.read_text()))
    assert held() == 2


CLOSURES = """
class Base:
    def __init__(self):
        self.ready = True


class Box(Base):
    def __init__(self, size):
        super().__init__()
        self.size = size

    @property
    def full(self):
        return self.size > 2

    @full.setter
    def full(self, full):
        self.size = 3 if full else 0


def adder(size):
    def add(number):
        return number + size

    return add
"""


TESTS = """
from made import Box, adder

held = adder(1)

def test_box():
    box = Box(3)
    assert (box.ready, box.size, box.full, Box(2).full) == (True, 3, True, False)
    for full, size in ((True, 3), (False, 0)):
        box.full = full
        assert box.size == size

def test_adder():
    assert held(10) == adder(1)(10) == 11
"""


@pytest.mark.parametrize(
    ("function", "before", "after", "results"),
    [
        ("Box.__init__", "super().__init__()", "pass", (False, True, False, 3, 11)),
        ("Box.full", "self.size > 2", "self.size", (True, 3, 0, 3, 11)),
        ("Box.full", "3 if full else 0", "3", (True, True, True, 3, 11)),
        ("adder", "number + size", "number - size", (True, True, False, 3, 9)),
    ],
)
def test_functions_with_variables_around_them_are_swapped(
    tmp_path: Path, function: str, before: str, after: str, results: tuple[object, ...]
) -> None:
    file = str(tmp_path / "made.py")
    made: dict[str, Any] = {}
    exec(compile(CLOSURES, file, "exec"), made)
    held = made["adder"](1)
    swap(file, function, CLOSURES, CLOSURES.replace(before, after))
    box = made["Box"](3)
    size, full = box.size, box.full
    box.full = False
    assert (hasattr(box, "ready"), full, box.full, size, held(10)) == results


def test_a_held_function_that_loses_one_of_two_variables_is_not_swapped(tmp_path: Path) -> None:
    source = "def outer(a, b):\n    def inner():\n        return a + b\n\n    return inner\n"
    made: dict[str, Any] = {}
    exec(compile(source, str(tmp_path), "exec"), made)
    held = made["outer"](1, 2)
    with pytest.raises(ValueError, match="free vars"):
        swap(str(tmp_path), "outer", source, source.replace("a + b", "b"))
    assert held() == 3


CONTROL = """
import os, sys, pytest
from pathlib import Path
from tests.mutation.children import Job, outcomes
from tests.mutation.operators import mutants
from tests.mutation.session import Session

folder = Path(sys.argv[1])
file = folder / "made.py"
source = file.read_text()

def work(calling, session):
    for change in (lambda one: one.before, lambda one: one.after):
        jobs = [
            Job(one._replace(after=change(one)), source, calling[str(file), one.function])
            for one in mutants("made.py", source)
        ]
        found = list(outcomes(jobs, session, folder, 2))
        print("", {outcome.result for outcome in found}, *found, sep=os.linesep)

options = ["--doctest-modules", "-s", "-c", os.devnull, str(folder)]
sys.exit(pytest.main(options, [Session(str(folder), work)]))
"""


def test_only_changes_are_noticed(tmp_path: Path) -> None:
    doctest = 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n'
    (tmp_path / "made.py").write_text(CLOSURES + doctest)
    (tmp_path / "test_made.py").write_text(TESTS)
    result = subprocess.run(
        [sys.executable, "-c", CONTROL, str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    results = [line for line in result.stdout.splitlines() if line.startswith("{")]
    assert results == ["{'survived'}", "{'killed'}"], result.stdout + result.stderr


def test_results_of_runs_that_were_killed_or_ran_at_a_time_are_read(tmp_path: Path) -> None:
    file = tmp_path / "results"
    assert rows_of(file) == []
    rows = [{"name": name, "begin": 1} for name in ("a", "b")]
    lines = [json.dumps(one) + "\n" for one in (*rows, *rows)]
    file.write_text("".join(lines) + '{"name": "c", "beg')
    assert rows_of(file) == rows
