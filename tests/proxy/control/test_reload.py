"""The scenario file, changed in all the ways in which files change."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from barnabas.loop import run
from barnabas.proxy.control.reload import ScenarioFile
from barnabas.proxy.control.target import Refused
from barnabas.proxy.scenario.file import Scenario

OLD = "version: 1\nrules: [{name: old, do: close}]\n"
NEW = "version: 1\nrules: [{name: new, do: close}]\n"


def rewrite(path: Path, text: str = NEW) -> None:
    path.write_text(text)


def rename(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_text(NEW)
    other.replace(path)


def remove(path: Path) -> None:
    path.unlink()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


WRONG = partial(rewrite, text="version: 1\nrules: [{name: new,\n do: nothing}]\n")
GONE = "it is missing or not a regular file"


def after(path: Path, *changes: Callable[[Path], None]) -> tuple[list[Scenario], list[str]]:
    """Return the scenarios that were handed on, and the lines, after each change."""
    found: list[Scenario] = []
    said: list[str] = []

    async def replace(scenario: Scenario) -> None:
        found.append(scenario)

    async def main() -> None:
        file = ScenarioFile(path)
        task = asyncio.create_task(file.watch(replace, said.append, every=0.001))
        for change in changes:
            count = len(found) + len(said)
            change(path)
            async with asyncio.timeout(60):
                while len(found) + len(said) == count:
                    await asyncio.sleep(0.001)
        task.cancel()

    run(main())
    return found, said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "rules.yaml"
    made.write_text(OLD)
    os.utime(made, ns=(0, 0))
    return made


@pytest.mark.parametrize(("change", "reason"), [
    (WRONG, "scenario: invalid, rules unchanged: rules.yaml:3: "),
    (remove, GONE), (pipe, GONE),
])  # fmt: skip
def test_a_wrong_one_is_not_and_why_is_said_once(
    path: Path, change: Callable[[Path], None], reason: str
) -> None:
    found, said = after(path, change)
    assert found == []
    (line,) = said
    for words in (reason, "rules unchanged", "rules.yaml"):
        assert words in line


def test_whatever_loading_or_replacing_raises_is_said_and_it_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def odd(scenario: Scenario) -> None:
        if scenario.rules[0].name == "new":
            raise problems.pop()
        found.append(scenario)

    problems = [ArithmeticError("nobody thought of this"), Refused("connections are open")]
    found: list[Scenario] = []
    said: list[str] = []

    async def main() -> None:
        file = ScenarioFile(path)
        task = asyncio.create_task(file.watch(odd, said.append, every=0.001))
        async with asyncio.timeout(60):
            for count, change in enumerate((rewrite, rename)):
                change(path)
                while len(said) == count:
                    await asyncio.sleep(0.001)
            with monkeypatch.context() as patched:
                patched.setattr(ScenarioFile, "load", lambda _: 1 / 0)
                rename(path)
                while len(said) < 3:
                    await asyncio.sleep(0.001)
            rewrite(path, OLD)
            while not found:
                await asyncio.sleep(0.001)
        task.cancel()

    run(main())
    assert said == [
        "scenario: rules unchanged: connections are open",
        f"scenario: can't load {path}: ArithmeticError: nobody thought of this",
        f"scenario: can't load {path}: ZeroDivisionError: division by zero",
    ]


def test_one_that_was_wrong_and_is_right_again_is_handed_on(path: Path) -> None:
    found, said = after(path, remove, rewrite, WRONG, rewrite)
    assert [scenario.rules[0].name for scenario in found] == ["new", "new"]
    assert len(said) == 2


def test_one_that_is_still_being_written_is_not_read(path: Path) -> None:
    file = ScenarioFile(path)
    assert not file.changed()
    with path.open("w") as being_written:
        for part in (NEW[:10], NEW[10:20], NEW[20:]):
            being_written.write(part)
            being_written.flush()
            assert not file.changed(), "it was another one at the last look"
    assert file.changed()
    assert not file.changed()
