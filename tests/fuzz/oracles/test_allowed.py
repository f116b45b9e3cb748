"""Which exceptions a broker may log, each with one beside it that it may not."""

from __future__ import annotations

from typing import Final

import pytest

from barnabas.fuzz.observations.java_stacks import exceptions_in
from barnabas.fuzz.oracles.allowed import CLASSES, HANDLED, IN_PARSING, PREFIXES, REFUSING
from tests.fuzz.oracles.judging import ANSWER, NPE, judged, of_broker

HEAD: Final = (
    "[data-plane-kafka-request-handler-8] ERROR kafka.server.RequestHandlerHelper - [KafkaApi-1] x"
)
FRAMES: Final = "\n\tat kafka.server.KafkaApis.handle(KafkaApis.scala:1)"
KAFKA: Final = "org.apache.kafka.common."


def logged(*chain: str) -> bool:
    """Whether an entry with these exceptions, the outermost first, is a finding."""
    entry = "\n".join((HEAD, chain[0] + FRAMES, *(f"Caused by: {one}" for one in chain[1:])))
    return bool(judged("logged", of_broker(replies=(ANSWER,), log=(entry,))))


BESIDE: Final = {
    f"{KAFKA}errors.": (f"{KAFKA}errors.CorruptRecordException", f"{KAFKA}KafkaException"),
    "java.io.": ("java.io.IOException: reset by peer", "java.lang.IllegalStateException"),
    "java.net.": ("java.net.SocketException: Connection reset", "java.nio.BufferOverflowException"),
    "java.nio.channels.": ("java.nio.channels.ClosedChannelException", "java.nio.BufferUnderflowException"),
    "javax.net.ssl.": (
        "javax.net.ssl.SSLHandshakeException: no cipher suites in common",
        "javax.security.sasl.SaslException: no user",
    ),
    "org.apache.zookeeper.": (
        "org.apache.zookeeper.KeeperException$SessionExpiredException: KeeperErrorCode",
        "java.lang.IllegalArgumentException: Path must not end with / character",
    ),
    "kafka.zookeeper.": (
        "kafka.zookeeper.ZooKeeperClientExpiredException: Session expired",
        "kafka.zk.FeatureZNodeException: no version",
    ),
}  # fmt: skip
"""Beginning of a class's name -> what it lets pass, and what it does not."""


@pytest.mark.parametrize("prefix", [prefix for prefix, _ in PREFIXES])
def test_what_a_beginning_of_names_lets_pass_and_what_not(prefix: str) -> None:
    passes, fires = BESIDE[prefix]
    assert passes.startswith(prefix)
    assert not logged(passes)
    assert logged(fires)
    assert logged(passes, "java.lang.NullPointerException: what it came of is judged, too")


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_passes_does_not_let_those_beside_it_pass(name: str) -> None:
    assert CLASSES[name]
    assert not logged(f"{name}: as it is")
    assert logged(f"{name.rpartition('.')[0]}.SurpriseException: nobody meant it")


@pytest.mark.parametrize("name", IN_PARSING)
def test_what_readers_throw_passes_as_the_cause_of_a_refusal_alone(name: str) -> None:
    assert IN_PARSING[name]
    for outer in REFUSING:
        assert not logged(f"{outer}: Error getting request for apiKey: METADATA", f"{name}: of 7")
    assert logged(f"{name}: of 7")
    assert logged(f"{KAFKA}errors.TimeoutException: no", f"{name}: of 7")


def test_numbers_of_lambdas_and_lines_do_not_tell_stacks_apart() -> None:
    other = NPE.replace("$2", "$17").replace("133", "140")
    assert exceptions_in(NPE)[-1].signature == exceptions_in(other)[-1].signature


def test_what_is_logged_and_told_to_the_client_is_allowed_there_only() -> None:
    for name, frame in HANDLED:
        for place, allowed in ((frame, True), ("kafka.server.KafkaApis.other", False)):
            entry = f"{HEAD}\n{name}: no\n\tat {place}(A.java:1){FRAMES}"
            assert bool(judged("logged", of_broker(replies=(ANSWER,), log=(entry,)))) is not allowed
