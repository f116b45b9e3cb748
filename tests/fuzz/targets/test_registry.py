"""What a campaign may name as a target."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.captures.kafka.errors import codes_in
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.exchanges import pair_responses, response_body_of
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.registry import (
    TARGETS,
    TargetKind,
    login_of,
    sides,
    target_of,
    with_settings,
)
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import METADATA
from tests.fuzz.observed import ASK, case


@pytest.mark.parametrize("kind", TARGETS, ids=lambda kind: kind.name)
def test_the_example_of_every_kind_makes_a_target_of_its_role(kind: TargetKind) -> None:
    target = target_of(kind.example, False)
    assert kind.example.partition(":")[0] == kind.name
    assert target.role == kind.role
    assert target.name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "unknown kind of target ''"),
        ("apachy:3", "unknown kind of target 'apachy'; did you mean 'apache'"),
        ("apache", "needs a version"),
        ("apache:4.3.1?listener", "NAME=VALUE"),
        ("apache:4.3.1?listener=sasl", "listener: .*'sasl_plaintext'"),
        ("apache:4.3.1?listener=sasl_plaintext&mechanism=PLAN", "did you mean 'PLAIN'"),
        ("apache:4.3.1?mechanism=SCRAM-SHA-256", "mechanism is for listener sasl_plaintext"),
        ("librdkafka:2", "the target takes no name"),
        ("kfake:1.0", "write kfake"),
        ("kfake:", "kfake: has nothing after the colon; write e.g. kfake$"),
        ("librdkafka: vs kfake", "nothing after the colon"),
        ("address:here", "HOST:PORT"),
        ("address:127.0.0.1:99999", "HOST:PORT"),
        ("address:[::1:9", "HOST:PORT"),
        ("address:192.0.2.1:9092", "--i-own-this-target"),
        ("address:127.0.0.1:9?username=alice", "needs username=NAME and password_file=FILE"),
        ("address:127.0.0.1:9?user=alice", "unknown option 'user'; did you mean 'username'"),
        ("address:127.0.0.1:9?username=a&password_file=f&mechanism=GSSAPI", "choose one of: PLAIN"),
        ("address:127.0.0.1:9?username=a&password_file=/nowhere/p", "p: No such file"),
        ("decoder:mine", "choose one of: specs, captures, frames, kafka-clients@"),
        ("decoder:kafka-clients", "choose one of: specs"),
        ("client:nobody@1", "nobody"),
        ("librdkafka vs ", "unknown kind of target ''"),
    ],
)
def test_what_is_none_is_told_in_a_line(text: str, says: str) -> None:
    with pytest.raises((Misuse, CannotRun), match=says) as problem:
        target_of(text, False)
    assert "\n" not in str(problem.value)


def test_a_password_is_not_taken_on_the_command_line_nor_repeated() -> None:
    with pytest.raises(Misuse, match="give password_file=FILE") as problem:
        target_of("address:127.0.0.1:9092?username=alice&password=hunter2", False)
    assert "hunter2" not in str(problem.value)


def test_a_target_that_logs_in_has_the_password_of_the_file_and_does_not_show_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "password").write_text("hunter2\n")
    text = f"address:127.0.0.1:9092?username=alice&password_file={tmp_path / 'password'}"
    target = target_of(text, False)
    assert isinstance(target, BrokerTarget)
    assert target.credentials == Credentials("PLAIN", "alice", "hunter2")
    assert "hunter2" not in target.name + repr(target.credentials)
    assert login_of(f"librdkafka vs {text}") == ("PLAIN", "alice")
    assert login_of("address:127.0.0.1:9092") is None


def test_settings_go_to_each_broker_of_apache_and_to_nobody_else() -> None:
    changes = {"listener": "sasl_plaintext", "settings": {"a.b": "c vs d&e"}}
    found = with_settings("apache:3.9.1?a.b=1&x.y= vs librdkafka", changes)
    first, second = sides(found)
    assert ApacheSettings.of(first.partition(":")[2]).settings == {"a.b": "c vs d&e", "x.y": ""}
    assert second == "librdkafka"
    assert login_of(found) == ("PLAIN", "barnabas")
    with pytest.raises(Misuse, match=r"address:HOST:PORT\?mechanism="):
        with_settings("address:127.0.0.1:9092", {"mechanism": "PLAIN"})
    with pytest.raises(Misuse, match="only a target of the kind apache takes settings"):
        with_settings("librdkafka", changes)


@pytest.mark.needs_go("franz-go@1.21.4")
@pytest.mark.timeout(600)
def test_it_answers_a_valid_request_and_takes_what_kafka_has() -> None:
    with target_of("kfake", False) as target:
        (found,) = target.run([case(ASK)])
        assert target.name.startswith("kfake ")
        assert METADATA in target.supported_versions()  # type: ignore[attr-defined]
    (one,) = pair_responses(found)[1]
    assert not any(codes_in(response_body_of(one), METADATA, 1))
    assert found.ending == "open"
