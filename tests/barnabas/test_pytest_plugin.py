"""The pytest plugin, as it looks from a project of somebody's: passing, failing, broken, interrupted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas import project
from tests.peers.kfake_absent import with_go
from tests.places import ROOT

pytestmark = pytest.mark.slow("each runs pytest in a process of its own")

SEND = """
    from confluent_kafka import Producer

    def send(proxy, topic="orders"):
        where = {"bootstrap.servers": proxy.bootstrap_server, "client.id": "maker"}
        producer = Producer({**where, "log_level": 0, "enable.metrics.push": False})
        producer.produce(topic, b"value")
        assert producer.flush(10) == 0
"""

WRONG = """
    version: 1
    rules:
      - name: a
        do: {delai: 1s}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with EmbeddedCluster(1, topics={"orders": 1}) as found:
        yield found.bootstrap


def sections(text: str) -> dict[str, str]:
    """What the report says of each test: heading -> text."""
    parts = re.split(r"^_{3,} (.+) _{3,}$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_reports_and_files(cluster: str, tmp_path: Path) -> None:
    tests = """
        import sys

        import pytest
        from send import send
        from barnabas.testing import start_proxy

        SLOW = {"name": "slow", "match": {"api": "Produce", "direction": "request"}, "do": {"delay": "1ms"}}

        def test_good(kafka_proxy):
            send(kafka_proxy)
            assert kafka_proxy.exchanges(api="Produce", topic="orders")
            assert kafka_proxy.folder.is_dir()
            ours = {f"barnabas.{one}" for one in ("experiments", "peers", "proxy", "specs")}
            assert not ours & set(sys.modules)

        @pytest.mark.scenario({"version": 1, "rules": [SLOW]})
        def test_bad(kafka_proxy, scenario):
            assert scenario.rule("slow").fired == 0
            for _ in range(20):
                send(kafka_proxy)
            assert len(kafka_proxy.exchanges(api="Produce")) == 1

        @pytest.fixture
        def closing(kafka_proxy):
            yield
            send(kafka_proxy)
            assert not kafka_proxy.exchanges(), "while it closes"

        def test_bad_end(closing):
            pass

        @pytest.mark.scenario("wrong.yaml")
        def test_wrong_file(kafka_proxy):
            pass

        @pytest.mark.scenario("missing.yaml")
        def test_no_file(kafka_proxy):
            pass

        @pytest.mark.scenario("one", "two")
        def test_two(kafka_proxy):
            pass

        @pytest.mark.scenario("slow-fetches")
        def test_no_proxy():
            pass

        @pytest.mark.scenario("slow-fetches")
        def test_asks_itself(request):
            assert request.getfixturevalue("kafka_proxy").scenario.rules

        @pytest.mark.scenario("slow-fetches")
        class TestSome:
            def test_of_others(self):
                pass

        class TestNarrow:
            @pytest.fixture
            def kafka_proxy_options(self):
                return "--max-version", "Metadata=5"

            @pytest.mark.scenario("slow-fetches")
            def test_options(self, kafka_proxy):
                send(kafka_proxy)
                assert {each.version for each in kafka_proxy.exchanges(api="Metadata")} == {5}
                assert kafka_proxy.scenario.rules

        def test_killed(kafka_proxy):
            kafka_proxy.process.popen.kill()

        @pytest.fixture(scope="session")
        def session_proxy(kafka_bootstrap_server, tmp_path_factory):
            with start_proxy(kafka_bootstrap_server, tmp_path_factory.mktemp("session")) as proxy:
                yield proxy

        @pytest.fixture
        def shared_proxy(session_proxy):
            return session_proxy.since()

        @pytest.mark.parametrize("number", [1, 2])
        def test_shares(shared_proxy, number):
            send(shared_proxy)
            (produced,) = shared_proxy.exchanges(api="Produce")
            assert [each.ts for each in shared_proxy.wait_for(api="Produce")] == [produced.ts]
            assert number == 1
    """
    project.write(
        tmp_path,
        {"tests/send.py": SEND, "tests/test_all.py": tests, "tests/wrong.yaml": WRONG},
    )
    result = project.run(tmp_path, "--strict-markers", "-rA", "--kafka-bootstrap-server", cluster)
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", result.stdout, re.MULTILINE)
    assert sorted(outcomes) == [
        ("ERROR", "test_bad_end"),
        ("ERROR", "test_killed"),
        ("ERROR", "test_no_file"),
        ("ERROR", "test_no_proxy"),
        ("ERROR", "test_two"),
        ("ERROR", "test_wrong_file"),
        ("FAILED", "test_bad"),
        ("FAILED", "test_shares"),
        ("PASSED", "test_asks_itself"),
        ("PASSED", "test_bad_end"),
        ("PASSED", "test_good"),
        ("PASSED", "test_killed"),
        ("PASSED", "test_of_others"),
        ("PASSED", "test_options"),
        ("PASSED", "test_shares"),
    ], result.stdout
    assert result.returncode == 1
    reported = sections(result.stdout)

    bad = reported["test_bad"].splitlines()
    begin = next(at for at, line in enumerate(bad) if re.fullmatch(r"-+ barnabas proxy -+", line))
    assert re.fullmatch(rf"127\.0\.0\.1:\d+ in front of {cluster}", bad[begin + 1])
    assert re.fullmatch(r"\.\.\. \d+ exchanges before these", bad[begin + 2])
    shown = bad[begin + 3 : begin + 23]
    assert all(re.match(r"\d\d:\d\d:\d\d\.\d{3} maker ", line) for line in shown)
    assert "b1  Produce v" in shown[-1]
    assert shown[-1].endswith(" ⟵ slow")
    assert bad[begin + 23] == "rule slow: 20 matched, 20 fired, delay"
    capture = Path(bad[begin + 24].removeprefix("capture: "))
    log = Path(bad[begin + 25].removeprefix("every exchange as JSON: "))
    assert capture.stat().st_size > 1000
    assert log.read_text().count('"api":"Produce"') == 20

    end = reported["ERROR at teardown of test_bad_end"]
    assert "barnabas proxy ---" in end
    assert "Produce v" in end
    assert "has ended" not in end, "it was stopped"

    assert reported["ERROR at setup of test_wrong_file"].strip() == (
        "barnabas: wrong.yaml:5: unknown key 'delai' in do; did you mean 'delay'?"
    )
    assert (
        "no scenario and no file 'missing.yaml' in " in reported["ERROR at setup of test_no_file"]
    )
    assert "scenario takes one thing" in reported["ERROR at setup of test_two"]
    assert reported["ERROR at setup of test_no_proxy"].strip() == (
        "the marker scenario is for the fixture kafka_proxy: let the test take it"
    )
    killed = reported["ERROR at teardown of test_killed"]
    assert killed.startswith("\nthe process of barnabas has ended with signal 9:\n")

    shared = re.search(r"^capture: (.+)", reported["test_shares[2]"], re.MULTILINE)
    assert shared is not None
    assert Path(shared[1]).is_file()

    kept = {path.name for path in (tmp_path / "kept").glob("kafka_proxy_*0")}
    assert {
        "kafka_proxy_test_bad0",
        "kafka_proxy_test_bad_end0",
        "kafka_proxy_test_killed0",
    } <= kept
    assert not {"kafka_proxy_test_good0", "kafka_proxy_test_options0"} & kept


@pytest.mark.needs_go("kfake")
@pytest.mark.timeout(600)
def test_without_a_cluster_there_is_an_embedded_one_for_all_tests_and_the_ini_file_may_name_one(
    cluster: str, tmp_path: Path
) -> None:
    tests = """
        from send import send

        clusters = set()

        def test_one(kafka_proxy):
            send(kafka_proxy)
            clusters.add(kafka_proxy.cluster)

        def test_two(kafka_proxy):
            send(kafka_proxy)
            clusters.add(kafka_proxy.cluster)
            print("clusters:", *clusters)
    """
    project.write(tmp_path, {"tests/send.py": SEND, "tests/test_all.py": tests})
    result = project.run(tmp_path, "-s")
    assert result.returncode == 0, result.stdout
    assert (
        len(re.findall(r"clusters:(?: [\d.:]+,[\d.:]+,[\d.:]+){1}$", result.stdout, re.MULTILINE))
        == 1
    )
    project.write(tmp_path, {"pytest.ini": f"[pytest]\nkafka_bootstrap_server = {cluster}\n"})
    result = project.run(tmp_path, "-s", "-k", "two")
    assert result.returncode == 0, result.stdout
    assert f"clusters: {cluster}\n" in result.stdout


@pytest.mark.needs_go("kfake")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "refused"),
    [("kfake", False), ("embedded", False), ("embedded without Go", True), ("librdkafka", True)],
)
def test_brokers_that_are_started_for_the_run(kind: str, refused: bool, tmp_path: Path) -> None:
    tests = """
        from send import send

        def test_it(kafka_proxy):
            send(kafka_proxy)
            versions = {each.version for each in kafka_proxy.exchanges(api="ApiVersions", error="")}
            print("refused:", max(versions) < 3)
    """
    project.write(tmp_path, {"tests/send.py": SEND, "tests/test_it.py": tests})
    old = with_go("go1.25", tmp_path) if kind.endswith("without Go") else {}
    result = project.run(tmp_path, "-s", "--kafka-bootstrap-server", kind.split()[0], **old)
    assert result.returncode == 0, result.stdout
    assert f"refused: {refused}\n" in result.stdout


def test_a_misspelt_kind_of_brokers_fails_at_once(tmp_path: Path) -> None:
    project.write(tmp_path, {"tests/test_it.py": "def test_it(kafka_proxy): pass\n"})
    result = project.run(tmp_path, "--kafka-bootstrap-server", "kfak")
    line = "--kafka-bootstrap-server: kfak: no such host, and no kind of brokers"
    assert line in sections(result.stdout)["ERROR at setup of test_it"]


@pytest.mark.parametrize(
    ("missing", "options", "said"),
    [
        (
            "confluent_kafka",
            ("--kafka-bootstrap-server", "librdkafka"),
            "librdkafka's mock needs confluent-kafka: install barnabas with the extra 'peers'",
        ),
        (
            "starlette",
            ("--kafka-bootstrap-server", "127.0.0.1:1"),
            "install barnabas with the extra 'control'",
        ),
    ],
)
def test_what_is_not_installed_is_one_line(
    tmp_path: Path, missing: str, options: tuple[str, ...], said: str
) -> None:
    project.write(
        tmp_path,
        {
            "tests/test_it.py": "def test_it(kafka_proxy): pass\n",
            f"absent/{missing}.py": f"raise ModuleNotFoundError('not installed', name='{missing}')\n",
        },
    )
    path = os.pathsep.join((str(ROOT), str(tmp_path / "absent")))
    result = project.run(tmp_path, *options, PYTHONPATH=path)
    assert said in sections(result.stdout)["ERROR at setup of test_it"]
    assert "Traceback" not in result.stdout


def test_conformance_checks_are_items_after_the_own_tests(cluster: str, tmp_path: Path) -> None:
    project.write(tmp_path, {"test_own.py": "def test_own(): pass\n"})
    chosen = "test_own or bad-crc or unknown-api-key"
    ended = project.run(tmp_path, "-v", "--barnabas-conform", cluster, "-k", chosen)
    assert ended.returncode == 1
    lines = ended.stdout.splitlines()
    assert "test_own.py::test_own PASSED" in ended.stdout
    assert "::conform[frame/unknown-api-key] PASSED" in ended.stdout
    assert "::conform[produce/bad-crc] FAILED" in ended.stdout
    assert f"  repeat: barnabas conform {cluster} --only produce/bad-crc" in lines
    assert "Traceback" not in ended.stdout


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("example.com:9092", "is not this machine"),
        ("example:", "is not an address"),
        ("127.0.0.1:1", "can't check the broker: 127.0.0.1:1: Connection refused"),
    ],
)
def test_a_broker_that_is_not_checked_is_an_error_of_usage(
    tmp_path: Path, address: str, reason: str
) -> None:
    ended = project.run(tmp_path, "--barnabas-conform", address)
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert reason in ended.stderr
