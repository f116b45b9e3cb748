"""Cases against Apache Kafka itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.cases.case import Recipe, session_of
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.java_stacks import exceptions_in
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.sessions.registry import SESSIONS, seeds
from barnabas.fuzz.targets.apache import ApacheService, apache
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.process_usage import threads
from barnabas.specs import decode_frame
from barnabas.specs.keys import DESCRIBE_CONFIGS, METADATA, SASL_AUTHENTICATE
from tests.fuzz.observed import ASK, case

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


@pytest.mark.needs_apache("3.9.1")
def test_what_a_broker_logs_of_a_case_is_with_the_case_and_an_end_is_told() -> None:
    broken = ASK[:-4] + b"\x7f\xff\xff\xff"
    service = ApacheService(ApacheSettings.of("3.9.1?jvm=-XX:%2BExitOnOutOfMemoryError"))
    with BrokerTarget(service, batch=8, connections=2, timeout=60, probe_timeout=60) as target:
        assert target.supported_versions()[METADATA]
        assert target.unprepared == ""
        results = list(target.run([case(ASK), case(broken, number=1), case(ASK, number=2)]))
        assert [len(one.replies) for one in results] == [1, 0, 1]
        assert results[1].ending in ("closed", "reset")
        assert {exceptions_in(entry)[0].name for entry in results[1].log} == {
            "org.apache.kafka.common.errors.InvalidRequestException"
        }
        assert not any(results[index].log for index in (0, 2))
        for oracle in ORACLES:
            if "broker" in oracle.roles:
                assert not list(oracle.judge(results[1])), oracle.name
        assert service.pid is not None
        names = {
            one: Path(f"/proc/{service.pid}/task/{one}/comm").read_text()
            for one in threads(service.pid)
        }
        handler = next(one for one, name in names.items() if name.startswith("data-plane-kafk"))
        assert service.where(handler)[-1].startswith("kafka.")
        assert not service.log()  # what it said of its threads is none of it
        assert service.death() is None
        assert service.rss() is not None
        heap = service.heap()
        assert heap is not None
        assert 1 << 20 < heap[0] <= heap[1] <= 256 << 20
        assert all(one.heap for one in target.run([case(ASK)]))
        assert service.pid is not None
    assert service.heap() is None


def test_a_version_that_cannot_be_is_told_before_anything_starts() -> None:
    with pytest.raises(CannotRun, match="not a version of Kafka"):
        ApacheService(ApacheSettings.of("four"))


def test_a_listener_with_sasl_is_for_releases_that_can_be_told_of_it() -> None:
    with pytest.raises(CannotRun, match="no listener of its own for SASL"):
        apache(ApacheSettings.of("0.10.2.1?listener=sasl_plaintext"))


def _valid(target: BrokerTarget, *names: str) -> Iterator[Observation]:
    some = [session for session in SESSIONS if session.name in names]
    result = seeds(target.connections.offered, some)
    return target.run(
        [
            cook(Recipe(seed, (), session_of(seed.origin)), number)
            for number, seed in enumerate(result)
        ]
    )


def _accepted(one: Observation) -> bool:
    version = one.case.recipe.seed.version
    (reply,) = one.replies
    body = decode_frame(reply, "response", key=SASL_AUTHENTICATE, version=version).body
    return not body["error_code"]


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_connections_log_in_first_and_what_is_before_that_is_sent_there(mechanism: str) -> None:
    text = (
        f"4.3.1?listener=sasl_plaintext&mechanism={mechanism}&message.max.bytes=7777&jvm=-Xmx200m"
    )
    with apache(ApacheSettings.of(text)) as target:
        assert target.unprepared == ""
        (plain,) = target.run([case(ASK)])
        assert (plain.ending, len(plain.replies)) == ("open", 1)
        (heap,) = [one for one in (target.service.heap(),) if one]
        assert heap[1] <= 200 << 20
        requested = {"resource_type": 4, "resource_name": "1", "configuration_keys": None}
        about = {"resources": [requested], "include_synonyms": False}
        (told,) = target.prober.ask(DESCRIBE_CONFIGS, 1, about)["results"]
        assert {one["name"]: one["value"] for one in told["configs"]}["message.max.bytes"] == "7777"
        assert all(one.replies for one in _valid(target, "joined"))
        # the proof of a challenge is right where nobody changed it
        proofs = [f"scram-sha-{bits}-proof" for bits in (256, 512)]
        for one in _valid(target, "plain", *proofs):
            rejected = one.case.recipe.seed.origin.endswith("server's error")
            assert _accepted(one) != rejected, one
        bare = list(_valid(target, "plain-bare"))
        assert [dict(one.facts)["tokens"] for one in bare] == [[""]] * len(bare)
        # nobody has logged in: all else is refused
        (greeted,) = list(_valid(target, "greeting"))[-1:]
        assert greeted.ending == "closed"
        assert not [
            one for oracle in ORACLES if oracle.name == "closing" for one in oracle.judge(greeted)
        ]
        assert target.connections.counts.failed == 0


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.needs_apache("3.9.1")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4.3.1?num.io.thread=4", "Kafka 4.3.1 knows no setting 'num.io.thread'; did you mean"),
        ("3.9.1?x=y", "Kafka 3.9.1 knows no setting 'x'"),
        ("4.3.1?super.users=User:a", "settings of a plugin are accepted with its class"),
        ("4.3.1?zookeeper.connect=here", "knows no setting 'zookeeper.connect'"),
        ("3.9.1?group.consumer.migration.policy=upgrade&zookeeper.connect=here", ""),
        ("4.3.1?unstable.api.versions.enable=true&listener.name.a.ssl.key.password=b", ""),
        (f"4.3.1?super.users=User:a&authorizer.class.name={AUTHORIZER}", ""),
    ],
)
def test_a_setting_that_a_release_lacks_is_told_before_anything_starts(
    text: str, said: str
) -> None:
    if not said:
        assert apache(ApacheSettings.of(text)).role == "broker"
        return
    with pytest.raises(Misuse, match=said) as problem:
        apache(ApacheSettings.of(text))
    assert "\n" not in str(problem.value)


def target(value: Any) -> str:
    results = {"version": 1, "target": value, "budget": {"cases": 1}}
    return Campaign.model_validate(results).target


def test_a_mapping_is_kept_as_text_and_read_from_it_again() -> None:
    whole = {
        "kind": "apache",
        "version": "4.3.1",
        "listener": "sasl_plaintext",
        "mechanism": "SCRAM-SHA-256",
        "jvm": ["-Xmx300m", "-XX:+UseZGC"],
        "settings": {"num.io.threads": 4, "auto.create.topics.enable": True, "x": "a=b & c vs d+e"},
    }
    text = target(whole)
    assert " " not in text
    result = ApacheSettings.of(text.partition(":")[2])
    assert result.jvm == ("-Xmx300m", "-XX:+UseZGC")
    assert result.settings == {
        "num.io.threads": "4",
        "auto.create.topics.enable": "true",
        "x": "a=b & c vs d+e",
    }
    assert (result.listener, result.mechanism) == ("sasl_plaintext", "SCRAM-SHA-256")
    assert result.text == text


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"kind": "apache"}, "version: Field required"),
        ({"kind": "librdkafka", "version": "1"}, "kind: Input should be 'apache'"),
        ({"version": "4.3.1", "listeners": "plaintext"}, "did you mean 'listener'"),
        ({"version": "4.3.1", "settings": ["a"]}, "settings: "),
        ({"version": 4}, "version: "),
    ],
)
def test_what_is_wrong_in_a_mapping_is_told_in_a_line(value: Any, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        target(value)
