"""A pytest session that runs its tests once, to see which functions they call, and then for each mutant."""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest


class Timed(NamedTuple):
    """A test, and how long it takes in seconds."""

    item: pytest.Item
    seconds: float


class Session:
    """The plugin: `work` gets the tests by the (file, function) that they call, the quickest first."""

    def __init__(
        self,
        folder: str,
        work: Callable[[dict[tuple[str, str], list[Timed]], Session], None],
    ) -> None:
        self.folder = folder
        self.work = work
        self.failures: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Have Hypothesis search the same examples each time, and shrink nothing."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", max_examples=25, phases=phases, derandomize=True, database=None
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails."""
        if report.failed:
            self.failures.append(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests, then the work."""
        if session.testsfailed:
            raise session.Failed("tests can't be collected")
        calling: defaultdict[tuple[str, str], list[Timed]] = defaultdict(list)
        for number, item in enumerate(session.items):
            following = session.items[number + 1] if number + 1 < len(session.items) else None
            begun = time.perf_counter()
            with called() as codes:
                run(item, following)
            timed = Timed(item, time.perf_counter() - begun)
            functions = {
                (code.co_filename, code.co_qualname.partition(".<locals>")[0])
                for code in codes
                if code.co_filename.startswith(self.folder)
            }
            if isinstance(item, pytest.DoctestItem):  # what it calls may be cached by now
                functions.add((str(item.path), item.name.removeprefix(f"{_module_of(item)}.")))
            for function in functions:
                calling[function].append(timed)
        if self.failures:
            raise session.Failed(f"tests fail without a mutant: {', '.join(self.failures[:5])}")
        self.work(
            {
                function: sorted(tests, key=lambda one: one.seconds)
                for function, tests in calling.items()
            },
            self,
        )
        return True


def run(item: pytest.Item, following: pytest.Item | None) -> None:
    """Run a test with its fixtures; those that the following test has, too, stay.

    A doctest forgets its module's names once it has run: it gets them back, or it would fail from then on.
    """
    names = item.dtest.globs if isinstance(item, pytest.DoctestItem) and item.dtest else {}
    kept = {**names}
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    names.update(kept)


def _module_of(item: pytest.DoctestItem) -> str:
    return str(item.dtest.globs.get("__name__", "")) if item.dtest else ""


@contextmanager
def called() -> Iterator[set[CodeType]]:
    """Collect the code that is called, in threads that start now, too."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield codes
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
