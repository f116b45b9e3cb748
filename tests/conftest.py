"""What all tests share."""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

from barnabas.loop import run
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import UnavailableError
from barnabas.peers.apache.java import java
from barnabas.peers.apache.versions import release
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.registry import find
from barnabas.peers.kfake import kfake_program
from tests.interrupts import children_hear_interrupts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# helpers of tests, too, show what an assert compares; what is imported already stays as it is
pytest.register_assert_rewrite(
    *{f"tests.{path.stem}" for path in Path(__file__).parent.iterdir()}.difference(sys.modules)
)

SPARK = 600
"""Seconds for a test with Spark, which may have to wait for the start of a JVM, on whatever machine."""

# a process that a test forks, as uvloop does for each program, looks for no garbage before its exec: threads
# of librdkafka's clients are not in it, and to destroy a client there ends it by a signal
os.register_at_fork(before=gc.disable, after_in_parent=gc.enable)

BUILT = ("needs_go", "needs_node", "needs_cargo")
"""Marks of tests with the names of clients that are got with a tool."""

MORE = ("needs_spark", "needs_apache", *BUILT, "needs_tshark", "needs_chromium")
"""Marks of tests that are slow by what they need."""

SHRINKING = 480
"""Seconds for a property: what it finds it shrinks for up to 300 (Hypothesis's own limit), and then is to
say what that was."""

# Hypothesis: "ci" has the same examples each time, "default" others, and "deep" (make test-deep) more.
# Only tests whose examples are costly say themselves how many they have.
for _profile, _base, _examples in (
    ("default", "default", 25),
    ("ci", "ci", 25),
    ("deep", "default", 1000),
):
    settings.register_profile(
        _profile,
        settings.get_profile(_base),
        max_examples=_examples,
        deadline=None,  # machines are slow now and then
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.function_scoped_fixture),
        # to explain, every line is traced while it shrinks: ten times slower on Python 3.11
        phases=set(Phase) - {Phase.explain},
    )


def pytest_configure() -> None:
    """Tests interrupt what they start."""
    children_hear_interrupts()


SAID = pytest.StashKey[Path]()
"""What the JVM of this process's Spark prints."""


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """One Spark for all tests of a worker process: embedded, small, with few partitions, as their data is."""
    from barnabas.pipeline.analyze import INTERPRETED
    from barnabas.pipeline.spark.session import QUICK, session

    with session("local[2]", {**QUICK, **INTERPRETED, "spark.driver.memory": "2g"}) as spark:
        request.config.stash[SAID] = Path(spark.conf.get("spark.local.dir") or "", "said.txt")
        yield spark


@pytest.fixture
def spark_of_commands(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that tests run in this process have the fixture's Spark, whatever they want of theirs."""
    monkeypatch.setattr(
        "barnabas.pipeline.spark.session.session", lambda *_: contextlib.nullcontext(spark)
    )
    monkeypatch.setattr("barnabas.pipeline.spark.sail.sail_installed", lambda: False)


@pytest.fixture(scope="session")
def kafka() -> Iterator[ApacheCluster]:
    """One broker of Kafka 4.3.1 for all tests of a worker process. Each test gives topics, groups and
    transactional ids names of its own; one that stops or sets the broker starts its own."""
    try:
        with ApacheCluster("4.3.1") as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With BARNABAS_NO_SKIPS set (in CI), a skip for something missing is a failure. Spark's own words are
    beside a failure: an error of the JVM is not always in what Python is told."""
    report = yield
    said = item.config.stash.get(SAID, None)
    if report.failed and said is not None and said.exists():
        told = [
            line for line in said.read_text(errors="replace").splitlines() if line[:4] != "\tat "
        ]
        report.sections.append(("Spark printed", "\n".join(told[-50:])))
    if report.skipped and os.environ.get("BARNABAS_NO_SKIPS") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which is not allowed here: {report.longrepr}"
    return report


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that need more than Python wheels are slow; some get more time.

    Without tshark or chromium, those that need it are skipped, saying so. Where workers share the files
    (pytest-xdist), those that stay together and those whose tests may take longest are begun first: or one
    worker has them at the end, and the others wait.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("needs_spark")
        elif is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.timeout(SHRINKING))
        if item.get_closest_marker("needs_spark") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SPARK))
        for name in filter(item.get_closest_marker, MORE):
            item.add_marker(pytest.mark.slow(name))
    if hasattr(config, "workerinput"):
        longest: dict[Path, float] = {}
        for item in items:
            marker = item.get_closest_marker("timeout")
            seconds = marker.args[0] if marker is not None else 0
            longest[item.path] = max(seconds, longest.get(item.path, 0))
        from tests.scheduling import shared

        def first(item: pytest.Item) -> tuple[bool, float]:
            root = config.rootpath
            return not shared(root, item.path.relative_to(root)), -longest[item.path]

        items.sort(key=first)
    for program in ("tshark", "chromium"):
        if shutil.which(program) is not None:
            continue
        skip = pytest.mark.skip(reason=f"needs {program} (Debian: apt-get install {program})")
        for item in items:
            if item.get_closest_marker(f"needs_{program}"):
                item.add_marker(skip)


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile`, files that share what is costly stay together, too."""
    from tests.scheduling import SharedProcesses

    return SharedProcesses(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, on the loop that the proxy has, or by the `runner` that it is given."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = pyfuncitem.funcargs
    test = pyfuncitem.obj(
        **{name: given[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    )
    runner = given.get("runner", run)
    assert callable(runner)
    runner(test)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Tests stay to the end: garbage is not looked for while they are collected, nor among them later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `needs_apache("3.9.1")` or `needs_go("sarama@1.46.2")` are skipped where that is missing.

    A fixture that all tests use costs those thousands that need neither.
    """
    try:
        if kafka := item.get_closest_marker("needs_apache"):
            java()
            for version in kafka.args:
                class_path(release(version).coordinates)
        for clients in map(item.get_closest_marker, BUILT):
            for name in clients.args if clients else ():
                kfake_program() if name == "kfake" else find(name).prepare()
    except (UnavailableError, UnavailableClientError) as problem:
        pytest.skip(str(problem))
