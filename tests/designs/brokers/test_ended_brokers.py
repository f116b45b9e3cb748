"""What is done about a broker that has ended itself."""

from __future__ import annotations

import asyncio

from barnabas.designs.brokers.ended_brokers import EndedBrokers


def test_why_is_known_at_once_and_the_broker_leaves() -> None:
    async def main() -> None:
        endings, left = EndedBrokers(), asyncio.Event()
        failure = OSError("its disk is full")

        async def leave() -> None:
            left.set()

        endings.note(3, failure, leave())
        assert endings.failures == {3: failure}
        async with asyncio.timeout(30):
            await left.wait()
        await endings.cancel()

    asyncio.run(main())


def test_who_has_not_left_when_the_cluster_ends_is_not_waited_for() -> None:
    async def main() -> None:
        endings, ended = EndedBrokers(), []

        async def leave() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)

        endings.note(3, None, leave())
        await asyncio.sleep(0)
        async with asyncio.timeout(30):
            await endings.cancel()
        assert ended == [True]

    asyncio.run(main())
