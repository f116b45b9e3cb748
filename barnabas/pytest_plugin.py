"""The pytest plugin: a Kafka proxy for a test, and the conformance checks of a broker as tests.

pytest loads it wherever barnabas is installed. So it imports nothing before a test uses a fixture, and none
of our other top-level packages: see `barnabas.testing`.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from barnabas.testing import KafkaProxy, Scenario

OPTION: Final = "kafka_bootstrap_server"
"""The name of the command line's option, of the ini-file's, and of the fixture."""

_proxies = pytest.StashKey[list["KafkaProxy"]]()
_failed = pytest.StashKey[bool]()
_cluster_options = pytest.StashKey[tuple[str, ...]]()
"""Options of all proxies in front of the cluster that was started."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--kafka-bootstrap-server`, and the same option of the ini-file."""
    from barnabas.broker_kinds import STARTABLE

    text = f"the cluster behind kafka_proxy, or what to start [embedded]: {STARTABLE}"
    group = parser.getgroup("barnabas", "Kafka through a proxy")
    group.addoption("--kafka-bootstrap-server", metavar="HOST:PORT[,...]|KIND", help=text)
    parser.addini(OPTION, text, default="")
    text = "add the conformance checks of a broker, an item for each; -k chooses among them"
    group.addoption("--barnabas-conform", metavar="HOST:PORT", help=text)
    text = "allow --barnabas-conform a broker on another machine: you own it"
    group.addoption("--i-own-this-target", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `scenario`."""
    config.addinivalue_line(
        "markers",
        "scenario(source): the rules of this test's kafka_proxy: a file beside the test, the name of a "
        "ready scenario, YAML in a string, or a dict",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the conformance checks, before -k and -m choose."""
    target = config.getoption("--barnabas-conform")
    if target:
        from barnabas.testing.conformance import conformance_items

        owned = config.getoption("--i-own-this-target")
        items += conformance_items(session, target, owned=owned)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose own marker `scenario` has no effect.

    Markers of its module or class may be meant for other tests. A test that takes `request` may get the proxy
    later.
    """
    fixtures = getattr(item, "fixturenames", ())
    if not {"kafka_proxy", "request"}.intersection(fixtures) and any(
        marker.name == "scenario" for marker in item.own_markers
    ):
        pytest.fail(
            "the marker scenario is for the fixture kafka_proxy: let the test take it",
            pytrace=False,
        )


@pytest.fixture(scope="session")
def kafka_bootstrap_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Yield the cluster of kafka_proxy, HOST:PORT[,...]: the configured one, or one that is started.

    The option may name what to start: `kfake`, `librdkafka`, `apache:4.3.1`, or `embedded`, the default.
    Override the fixture if another one of yours starts the cluster.
    """
    config = request.config
    given = config.getoption(OPTION) or config.getini(OPTION) or "embedded"
    from barnabas.broker_kinds import OFFERS, check_hosts, is_kind
    from barnabas.testing.process import START_CLUSTER, Ended, running
    from barnabas.trouble import Trouble

    if not is_kind(given):
        try:
            parts = (part.strip() for part in given.split(","))
            check_hosts([part.rpartition(":")[0] or part for part in parts])
        except Trouble as problem:
            pytest.fail(f"--kafka-bootstrap-server: {problem}", pytrace=False)
        yield given
        return
    folder = tmp_path_factory.mktemp("kafka_cluster")
    try:
        with running(("peers", "start", given), folder, "cluster", START_CLUSTER) as cluster:
            offers = OFFERS.get(cluster.ready.get("kind", ""), ())
            config.stash[_cluster_options] = tuple(
                word for offer in offers for word in ("--max-version", offer)
            )
            yield cluster.ready["bootstrap"]
        return
    except Ended as problem:
        line = f"{problem}; or name a cluster of yours: --kafka-bootstrap-server HOST:PORT"
    pytest.fail(line, pytrace=False)


@pytest.fixture
def kafka_proxy_options() -> Sequence[str]:
    """Return further options of `barnabas proxy`, such as ("--pretend", "2.8"). Meant to be overridden."""
    return ()


@pytest.fixture
def kafka_proxy(
    request: pytest.FixtureRequest,
    kafka_bootstrap_server: str,
    kafka_proxy_options: Sequence[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[KafkaProxy]:
    """Yield a proxy in front of the cluster, for this test alone, with the rules of the marker `scenario`."""
    from barnabas.testing import Ended, WrongScenario, start_proxy

    marker = request.node.get_closest_marker("scenario")
    if marker is not None and (len(marker.args) != 1 or marker.kwargs):
        pytest.fail("the marker scenario takes one thing: scenario(source)", pytrace=False)
    name = re.sub(r"\W+", "_", request.node.name)[:40]
    try:
        with start_proxy(
            kafka_bootstrap_server,
            tmp_path_factory.mktemp(f"kafka_proxy_{name}"),
            scenario=None if marker is None else marker.args[0],
            base=request.path.parent,
            options=(*request.config.stash.get(_cluster_options, ()), *kafka_proxy_options),
        ) as proxy:
            request.node.stash.setdefault(_proxies, []).append(proxy)
            yield proxy
        return
    except (Ended, WrongScenario) as problem:
        line = str(problem)
    if not request.node.stash.get(_failed, False):  # else the report has it
        pytest.fail(line, pytrace=False)


@pytest.fixture
def scenario(kafka_proxy: KafkaProxy) -> Scenario:
    """Return the rules of this test's kafka_proxy, which the test may replace and add to."""
    return kafka_proxy.scenario


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the exchanges to the report of a failure; remove the files of a test that passed."""
    report = yield
    proxies = item.stash.get(_proxies, [])
    if report.failed and (shown := proxies or _shared(item)):
        from barnabas.testing.report import section

        item.stash[_failed] = True
        report.sections += [("barnabas proxy", section(proxy)) for proxy in shown]
    if report.when == "teardown" and proxies:
        if not item.stash.get(_failed, False):
            for proxy in proxies:
                shutil.rmtree(proxy.folder, ignore_errors=True)
        del item.stash[_proxies]  # the test may run again
        item.stash[_failed] = False
    return report


def _shared(item: pytest.Item) -> list[KafkaProxy]:
    """Return the proxies that a test takes from fixtures of the project."""
    if "barnabas.testing.kafka_proxy" not in sys.modules:
        return []
    from barnabas.testing import KafkaProxy

    values = getattr(item, "funcargs", {}).values()
    return [each for each in values if isinstance(each, KafkaProxy)]
