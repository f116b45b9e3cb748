"""The part of the table that continuous integration runs: the newest, two old ones, and librdkafka's mock."""

from __future__ import annotations

import pytest

from tests.compat.cells import Verdict
from tests.compat.plan import CLIENTS, INSTALLED, LIBRDKAFKA, WORKLOADS, gap
from tests.compat.rows import cells

NODES = 3

JAVA = ("java",)

LACKS = {
    ("kafka-python", "consumer-protocol"),
    ("kafka-python", "share-group"),
    ("aiokafka", "cooperative"),
    ("aiokafka", "consumer-protocol"),
    ("aiokafka", "share-group"),
    ("kafkajs", "assign"),
}
"""What libraries do not offer (tests/experiments/clients/test_programs.py knows it of all)."""


@pytest.mark.timeout(900)  # a client that differs by chance is tried three times
@pytest.mark.parametrize(
    ("broker", "clients"),
    [
        pytest.param(
            LIBRDKAFKA,
            tuple(INSTALLED),
            marks=pytest.mark.slow("clients in processes of their own"),
        ),
        pytest.param(LIBRDKAFKA, JAVA, marks=pytest.mark.needs_apache("4.3.1")),
        pytest.param(
            LIBRDKAFKA,
            ("kafka-go", "kafkajs"),
            marks=(
                pytest.mark.needs_go(f"kafka-go@{CLIENTS['kafka-go']}"),
                pytest.mark.needs_node(f"kafkajs@{CLIENTS['kafkajs']}"),
            ),
        ),
        *(
            pytest.param(
                name,
                (*INSTALLED, *JAVA),
                marks=(pytest.mark.needs_apache(name), pytest.mark.alone),
            )
            for name in ("4.3.1", "0.10.2.1", "0.8.2.2")
        ),
    ],
)
def test_clients_do_the_same_directly_and_through_the_proxy(
    broker: str, clients: tuple[str, ...]
) -> None:
    """And checks find nothing in what passes, as the proxy captures it and on the wire."""
    found = list(cells(broker, clients, NODES, print))
    unexpected = "\n".join(
        f"{cell.client} {cell.workload}: {cell.verdict}: {cell.reason}"
        for cell in found
        if not cell.fine
    )
    assert not unexpected, unexpected
    known = {(cell.client, cell.workload): cell for cell in found}
    assert set(known) == {(client, name) for client in clients for name in WORKLOADS}
    same = {where for where, cell in known.items() if cell.verdict is Verdict.SAME}
    assert same == {where for where in known if gap(broker, *where) is None} - LACKS
