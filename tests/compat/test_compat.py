"""The part of the table that continuous integration runs: the newest, two old ones, and the embedded one."""

from __future__ import annotations

import pytest

from tests.compat.plan import CLIENTS, EMBEDDED, JOBS, gap
from tests.compat.rows import cells

NODES = 3

BROKERS = ("4.3.1", "0.10.2.1", "0.8.2.2")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "broker",
    [
        pytest.param(
            EMBEDDED, marks=pytest.mark.needs_apache("4.3.1")
        ),  # Java is among its clients
        *(pytest.param(name, marks=pytest.mark.needs_apache(name)) for name in BROKERS),
    ],
)
def test_clients_do_the_same_directly_and_through_the_proxy(broker: str) -> None:
    found = list(cells(broker, list(CLIENTS), NODES, print))
    assert [cell for cell in found if not cell.fine] == []
    known = {(cell.client, cell.job): cell for cell in found}
    assert set(known) == {(client, job) for client in CLIENTS for job in JOBS}
    same = {where for where, cell in known.items() if cell.verdict == "same"}
    assert same == {where for where in known if gap(broker, *where) is None}
