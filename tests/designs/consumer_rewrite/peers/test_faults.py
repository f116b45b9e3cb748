"""The consumer rewrite over real sockets, behind the proxy, with each fault that a draft can have.

Whatever the fault: no two consumers of a generation own the same partition, not for a moment; when it is
over the group shares all partitions; and nobody begins before what was committed.
"""

from __future__ import annotations

import asyncio

import pytest

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.registry import Registry
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.group_entry import decode, path_of
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from tests.designs.faults import Case, between, fired, scenario, with_all_faults
from tests.waiting import eventually

pytestmark = [pytest.mark.slow("sockets, and sessions that must end"), pytest.mark.timeout(240)]

DIALECT = "rewrite-0.8.2"
SESSION = 600
"""ms. Heartbeats leave every 200, and are waited for so long."""

LONG = 3_000
"""ms, where nobody is to be lost, not even on a busy machine."""

A = "client_id: a"
JOIN = f"{A}, api: JoinGroup, direction: request"
JOINED = f"{A}, api: JoinGroup, direction: response"
BEAT = f"{A}, api: Heartbeat, direction: request"
BEATEN = f"{A}, api: Heartbeat, direction: response"

CASES = {
    "a join is late": Case(((JOIN, "{delay: 100ms}"),), kept=True),
    "a join is too late": Case(((JOIN, "{delay: 700ms}"),)),
    "a heartbeat is too late": Case(((BEAT, "{delay: 700ms}"),)),
    "a slow line": Case(((A, "{throttle: {bytes: 4kB}}"),), times=30, kept=True),
    "a heartbeat alone is lost": Case(((BEAT, "{drop: {selective: true}}"),)),
    "its answer alone is lost": Case(((BEATEN, "{drop: {selective: true}}"),)),
    "a join's answer is cut off": Case(((JOINED, "{truncate: {keep: 9B}}"),)),
    "an answer to nothing": Case(((BEATEN, "{corrupt: {at: 0}}"),)),
    "a generation that is over": Case(((BEATEN, "{edit: {set: {error_code: 22}}}"),), kept=True),
    "a consumer that is not known": Case(((BEATEN, "{edit: {set: {error_code: 25}}}"),), kept=True),
    "a short stall": Case(((JOIN, "{stall: {time: 80ms, side: both}}"),), kept=True),
    "in pieces of a byte": Case(((A, "{slice: {size: 1B, every: 0.1ms}}"),), times=20, kept=True),
    "together with the next": Case(((BEATEN, "{coalesce: {count: 3}}"),), times=3, kept=True),
    "no new connection": Case(((BEAT, "close"), ("broker: [1]", "refuse")), times=2),
    "cut off for a while": Case(((BEAT, "{isolate: {lasts: 900ms, clients: a}}"),)),
}


ALL = with_all_faults(CASES, A)


@pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())
def test_one_owner_at_most_and_a_group_that_recovers(case: Case) -> None:
    asyncio.run(_run(case))


def _client(name: str, address: Address, session: int) -> Client:
    about = ConsumerSettings(
        "g",
        (address,),
        topics=("t",),
        client_id=name,
        session_timeout_ms=session,
        heartbeat_frequency=session // 200,
        request_timeout_ms=session,
        join_timeout_ms=3 * session,
        backoff_ms=20,
    )
    return Client(about)


def _committed(registry: Registry) -> list[int]:
    entry = registry.read(path_of("g"))
    return [] if entry is None else [one.offset for one in decode(entry.data).offsets.values()]


async def _run(case: Case) -> None:
    session = LONG if case.kept else SESSION
    living: dict[str, Client] = {}

    def one_owner() -> None:
        owned = [(one.generation, at) for one in living.values() for at in one.partitions]
        assert len(owned) == len(set(owned)), f"two owners in {owned}"

    def shared() -> bool:
        owned = sorted(at for one in living.values() for at in one.partitions)
        generations = {one.generation for one in living.values()}
        return len(generations) == 1 and owned == [("t", number) for number in range(4)]

    async def work(client: Client) -> None:
        while True:
            await client.poll(0.02)

    async with (
        Cluster(1, topics={"t": 4}) as cluster,
        between(cluster.bootstrap, DIALECT) as proxy,
        asyncio.TaskGroup() as polls,
    ):
        tasks: dict[str, asyncio.Task[None]] = {}
        known: list[Client] = []

        def begin(name: str) -> None:
            living[name] = client = _client(name, proxy.address, session)
            known.append(client)
            client.start()
            tasks[name] = polls.create_task(work(client))

        try:
            begin("a")
            begin("b")
            await eventually(shared, one_owner)
            for one in living.values():
                for at in one.partitions:
                    one.consumed(at, 42)
                one.commit()
            await eventually(lambda: _committed(cluster.registry) == [42] * 4, one_owner)
            losses = living["a"].core.losses
            proxy.replace(scenario(DIALECT, case), "the test")
            begin("c")
            await eventually(lambda: fired(proxy) and shared(), one_owner)
            tasks["c"].cancel()
            await living.pop("c").stop()
            await eventually(shared, one_owner)
            positions = [offset for one in living.values() for offset in one.partitions.values()]
            assert positions == [42] * 4
            assert case.kept in (None, living["a"].core.losses == losses)
        finally:
            for task in tasks.values():
                task.cancel()
            for one in known:
                await one.kill()
