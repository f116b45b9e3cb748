"""The part of the table that continuous integration runs: the newest, two old ones, and the embedded one."""

from __future__ import annotations

import pytest

from tests.compat.plan import CLIENTS, EMBEDDED, JOBS, gap
from tests.compat.rows import cells

NODES = 3

BROKERS = ("4.3.1", "0.10.2.1", "0.8.2.2")


JAVA = ("java",)
OTHERS = tuple(client for client in CLIENTS if client not in JAVA)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("broker", "clients"),
    [
        pytest.param(EMBEDDED, OTHERS, marks=pytest.mark.slow("clients in processes of their own")),
        pytest.param(EMBEDDED, JAVA, marks=pytest.mark.needs_apache("4.3.1")),
        *(
            pytest.param(
                name, tuple(CLIENTS), marks=(pytest.mark.needs_apache(name), pytest.mark.alone)
            )
            for name in BROKERS
        ),
    ],
)
def test_clients_do_the_same_directly_and_through_the_proxy(
    broker: str, clients: tuple[str, ...]
) -> None:
    """And checks find nothing in what passes, as the proxy captures it and on the wire."""
    found = list(cells(broker, clients, NODES, print))
    assert [cell for cell in found if not cell.fine] == []
    known = {(cell.client, cell.job): cell for cell in found}
    assert set(known) == {(client, job) for client in clients for job in JOBS}
    same = {where for where, cell in known.items() if cell.verdict == "same"}
    assert same == {where for where in known if gap(broker, *where) is None}
