"""Central coordination over real sockets, behind the proxy, with each fault that a draft can have.

Whatever the fault: no two that one coordinator has started fetch from the same partition, not for a
moment, and when it is over the group shares all partitions, new ones, too.
"""

from __future__ import annotations

import asyncio

import pytest

from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.peers.actions import ConsumerAction, StartFetchers
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import BrokerSettings, ConsumerSettings
from tests.designs.faults import Case, between, fired, scenario, with_all_faults
from tests.waiting import eventually

pytestmark = [pytest.mark.slow("sockets, and sessions that must end"), pytest.mark.timeout(240)]

DIALECT = "central-coordination"
SESSION = 600
"""ms. Pings come every 200, an answer is late after 400, a consumer hears nothing for 300 at most."""

LONG = 6_000
"""ms, where nobody is to be lost, not even on a busy machine."""

PARTITIONS = ("0-0", "0-1", "0-2", "0-3")

A = "client_id: a"
STOP = f"{A}, api: StopFetcher, direction: request"
STOPPED = f"{A}, api: StopFetcher, direction: response"
STARTED = f"{A}, api: StartFetcher, direction: response"
PING = f"{A}, api: Ping, direction: request"
PINGED = f"{A}, api: Ping, direction: response"
REGISTER = f"{A}, api: RegisterConsumer, direction: request"
REGISTERED = f"{A}, api: RegisterConsumer, direction: response"

CASES = {
    "stop-fetcher is late": Case(((STOP, "{delay: 100ms}"),), kept=True),
    "stop-fetcher is too late": Case(((STOP, "{delay: 700ms}"),)),
    "start-fetcher's answer is too late": Case(((STARTED, "{delay: 700ms}"),)),
    "a slow line": Case(((A, "{throttle: {bytes: 2kB}}"),), times=30, kept=True),
    "a ping overtakes stop-fetcher": Case(((STOP, "{hold: {messages: 1}}"),)),
    "stop-fetcher is lost, and all behind it": Case(((STOP, "drop"),)),
    "start-fetcher's answer alone is lost": Case(((STARTED, "{drop: {selective: true}}"),)),
    "answers to pings are lost": Case(((PINGED, "{drop: {selective: true}}"),), times=2),
    "an answer is cut off": Case(((STOPPED, "{truncate: {keep: 5B}}"),)),
    "a session that is too short": Case(
        ((PING, "close"), (REGISTER, "{edit: {set: {session_timeout_ms: 1}}}")),
        said="SessionTimeoutTooLow",
    ),
    "the id of another": Case(
        ((PING, "close"), (REGISTER, "{edit: {set: {consumer_id: b}}}")), said="DuplicateConsumerId"
    ),
    "a registration that is not answered": Case(
        ((PING, "close"), (REGISTERED, "{drop: {selective: true}}"))
    ),
    "the consumer's side is closed": Case(((PINGED, "half_close"),)),
    "a short stall": Case(((STOP, "{stall: {time: 80ms, side: both}}"),), kept=True),
    "in pieces of a byte": Case(((A, "{slice: {size: 1B, every: 0.1ms}}"),), times=20, kept=True),
    "together with the next": Case(((STOPPED, "{coalesce: {count: 3}}"),), times=3, kept=True),
    "no new connection": Case(((PING, "close"), ("broker: [1]", "refuse")), times=2),
    "cut off for a while": Case(((PING, "{isolate: {lasts: 800ms, clients: a}}"),)),
}


ALL = with_all_faults(CASES, A)


@pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())
def test_one_owner_at_most_and_a_group_that_recovers(case: Case) -> None:
    asyncio.run(_run(case))


async def _run(case: Case) -> None:
    session = LONG if case.kept else SESSION
    settings = BrokerSettings(min_session_timeout_ms=SESSION)
    clients: dict[str, Client] = {}
    twice: list[str] = []

    def client(name: str, address: Address) -> Client:
        def watch(action: ConsumerAction) -> None:
            if isinstance(action, StartFetchers):
                others = [one for other, one in clients.items() if other != name]
                twice.extend(
                    f"{at}: {name}"
                    for one in others
                    for at in set(one.partitions) & set(action.start)
                )

        about = ConsumerSettings(
            "g",
            name,
            (address,),
            session_timeout_ms=session,
            request_timeout_ms=session,
            backoff_ms=20,
        )
        return Client(about, watch)

    def one_owner() -> None:
        assert not twice, f"two owners of {twice}"

    def shared(count: int) -> bool:
        owned = [at for one in clients.values() for at in one.partitions]
        return len(owned) == len(set(owned)) == count and all(
            one.partitions for one in clients.values()
        )

    async with (
        Cluster(1, topics={"t": PARTITIONS}, settings=settings) as cluster,
        between(cluster.bootstrap, DIALECT) as proxy,
    ):
        clients = {name: client(name, proxy.address) for name in "ab"}
        try:
            for one in clients.values():
                one.start()
            await eventually(lambda: shared(4), one_owner)
            for one in clients.values():
                for at in one.partitions:
                    one.consumed(at, 42)
            losses = clients["a"].core.losses
            proxy.replace(scenario(DIALECT, case), "the test")
            await cluster.grow("t", "1-0")
            await eventually(lambda: fired(proxy) and shared(5), one_owner)
            if case.kept:
                positions = [at for one in clients.values() for at in one.partitions.values()]
                assert sorted(positions) == [0, 42, 42, 42, 42]
            await cluster.grow("t", "1-1")
            await eventually(lambda: shared(6), one_owner)
            assert case.kept in (None, clients["a"].core.losses == losses)
            assert not case.said or any(case.said in line for line in clients["a"].said)
        finally:
            for one in clients.values():
                await one.stop()
