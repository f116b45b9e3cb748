"""What happens to the cluster while a workload runs: each action is a function, run in a thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Final

from barnabas.experiments.clients.preparation import SOON, late_records, late_topic, produce
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import COME_AND_GO, ROLLING_RESTART, Workload
from barnabas.peers.apache.errors import BootError

STEP: Final = 2.0
"""Seconds between two steps of an action."""

Action = Callable[[TrialSetup, str, Workload, threading.Event], None]
"""An action on the brokers of a trial, for a topic and a workload; it ends early when the event is set."""


def restart_brokers(
    setup: TrialSetup, topic: str, workload: Workload, over: threading.Event
) -> None:
    """Restart each broker of the cluster in turn, as an upgrade does. Raises OSError."""
    if setup.cluster is None:
        raise OSError(f"{workload.name} needs brokers that it may restart: --broker apache:VERSION")
    try:
        for node in setup.cluster.nodes:
            if over.wait(STEP):
                return
            setup.cluster.stop(node)
            setup.cluster.start(node)
    except BootError as problem:
        raise OSError(f"a broker did not start again: {problem}") from None


def create_and_delete_topics(
    setup: TrialSetup, topic: str, workload: Workload, over: threading.Event
) -> None:
    """Create a topic with the last records, and delete an empty one. Raises OSError."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient, NewTopic

    admin, partitions = AdminClient(setup.librdkafka), setup.traffic(workload).partitions
    empty, late = f"{topic}-topic-8", late_topic(topic)
    try:
        admin.create_topics([NewTopic(empty, 1, 1)])[empty].result(SOON)
        over.wait(STEP)
        admin.create_topics([NewTopic(late, partitions, 1)])[late].result(SOON)
        names = late_records(topic, setup.traffic(workload))
        produce(setup, [(late, name, name) for name in names])
        over.wait(STEP)
        admin.delete_topics([empty])[empty].result(SOON)
    except (KafkaException, TimeoutError) as problem:
        raise OSError(f"topics of {topic} can't be created and deleted: {problem}") from None


ACTIONS: Final[dict[str, Action]] = {
    ROLLING_RESTART: restart_brokers,
    COME_AND_GO: create_and_delete_topics,
}
"""The actions by `Workload.during`."""


@contextlib.contextmanager
def during(setup: TrialSetup, topic: str, workload: Workload) -> Iterator[None]:
    """Run a workload's action, if it has one, within `with`. Raises OSError at the end if it failed."""
    if not workload.during:
        yield
        return
    over, failed = threading.Event(), list[OSError]()

    def run() -> None:
        try:
            ACTIONS[workload.during](setup, topic, workload, over)
        except OSError as problem:
            failed.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failed:
        raise failed[0]
