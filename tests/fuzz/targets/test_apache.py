"""Cases against Apache Kafka itself."""

from __future__ import annotations

import pytest

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.targets.apache import ApacheService
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.specs.keys import METADATA
from tests.fuzz.observed import case, request

ASK = request(METADATA, 1, {"topics": None})


@pytest.mark.needs_apache("3.9.1")
def test_what_a_broker_logs_of_a_case_is_with_the_case_and_an_end_is_told() -> None:
    broken = ASK[:-4] + b"\x7f\xff\xff\xff"
    service = ApacheService("3.9.1", exit_on_oom=True)
    with BrokerTarget(service, batch=8, lanes=2, patience=5, limit=20) as target:
        assert target.takes()[METADATA]
        assert target.unprepared == ""
        found = list(target.run([case(ASK), case(broken, number=1), case(ASK, number=2)]))
        assert [len(one.replies) for one in found] == [1, 0, 1]
        assert found[1].ending in ("closed", "reset")
        assert {raised(entry)[0].name for entry in found[1].log} == {
            "org.apache.kafka.common.errors.InvalidRequestException"
        }
        assert not any(found[index].log for index in (0, 2))
        for oracle in ORACLES:
            if "broker" in oracle.roles:
                assert not list(oracle.judge(found[1])), oracle.name
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
        ApacheService("four")
