"""Proxies of the API: where they listen, when, and what others are told of them."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest

from barnabas.proxy.edits.topology import NOWHERE, Node
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.toxiproxy.errors import ApiError
from tests.ports import free_port
from tests.proxy.faults.given import produced
from tests.proxy.frames import request
from tests.proxy.servers import echo_metadata, read_frame
from tests.proxy.toxiproxy.desk import SOON, Desk, body, desk, new_store, read_all
from tests.proxy.toxiproxy.test_layer import PING, exchange


async def test_disabled_it_closes_all_and_enabled_it_has_the_same_port() -> None:
    async with desk() as at:
        reader, _ = streams = await at.connect()
        await exchange(streams)
        listen = at.proxy.listen
        await at.store.update("one", body(enabled=False))
        assert await read_all(reader) == b""
        with pytest.raises(ConnectionRefusedError):
            await at.connect()
        port = int(listen.rpartition(":")[2])
        (await asyncio.start_server(lambda *_: None, "127.0.0.1", port)).close()
        await at.store.update("one", body(enabled=True))
        assert at.proxy.listen == listen
        await exchange(await at.connect())


async def test_what_toxics_hold_of_connections_that_are_over_is_closed_with_it() -> None:
    async with desk() as at:
        at.add("latency", latency=600_000)
        reader, writer = await at.connect()
        writer.write(PING)
        writer.write_eof()
        while at.proxy.received["downstream"] < len(PING):
            await asyncio.sleep(0.001)
        await at.store.update("one", body(enabled=False))
        assert await read_all(reader) == b""


async def test_another_upstream_closes_what_was_and_keeps_the_toxics() -> None:
    async with desk() as one, desk() as two:
        reader, writer = streams = await one.connect()
        await exchange(streams)
        one.add("limit_data", bytes=4)
        await one.store.update("one", body(upstream=two.proxy.upstream))
        assert await read_all(reader) == b""
        reader, writer = await one.connect()
        writer.write(PING)
        assert await read_all(reader) == PING[:4]


async def test_a_port_that_is_taken_is_said_as_go_does() -> None:
    async with desk() as at:
        given = body(name="two", upstream="a:1", listen=at.proxy.listen)
        with pytest.raises(ApiError) as found:
            await at.store.create(given)
        listen = at.proxy.listen
        assert found.value.message == f"listen tcp {listen}: bind: address already in use"
        assert found.value.status == 500
        assert set(at.store.proxies) == {"one"}
        await at.store.remove("one")
        await at.store.create(given)


@pytest.mark.parametrize("upstream", ["127.0.0.1:1", "nobody", "a b:9", "nohost.invalid:9", ":0"])
async def test_an_upstream_that_is_not_there_costs_the_connection(upstream: str) -> None:
    async with desk() as at:
        await at.store.update("one", body(upstream=upstream))
        reader, _ = await at.connect()
        assert await read_all(reader) == b""


async def test_reset_enables_all_and_takes_their_toxics() -> None:
    async with desk() as at:
        at.add("timeout", timeout=1)
        at.proxy.add(body(type="kafka", attributes={"rule": {"do": "close"}}))
        await at.store.update("one", body(enabled=False))
        await at.store.reset()
        assert at.proxy.toxics == []
        assert at.proxy.rules().rules == ()
        await exchange(await at.connect())


async def told(at: Desk) -> dict[int, str]:
    """Return the brokers' addresses that a client of a cluster is told."""
    reader, writer = await at.connect()
    writer.write(request("Metadata", 1))
    frame = await asyncio.wait_for(read_frame(reader), SOON)
    from barnabas.specs import api

    found = api("Metadata").response.codec(1).decode(frame[4:])
    return {each["node_id"]: f"{each['host']}:{each['port']}" for each in found["brokers"]}


async def test_a_broker_that_is_the_upstream_of_a_proxy_is_told_as_that_proxy() -> None:
    async with desk(echo_metadata) as at:  # whose brokers are all at 127.0.0.1:1
        own = await told(at)
        assert len(set(own.values())) == 3
        assert all(each.startswith("127.0.0.1:") for each in own.values())
        other = await at.store.create(
            body(name="two", listen="127.0.0.1:0", upstream="localhost:1")
        )
        assert set((await told(at)).values()) == {other.listen}
        await at.store.update("two", body(enabled=False))
        assert set((await told(at)).values()) == {other.listen}, "as a broker that is down"
        await at.store.remove("two")
        assert await told(at) == own


async def test_a_broker_that_advertises_a_proxy_is_told_as_it_is_and_nobody_listens_for_it() -> (
    None
):
    port = free_port()
    async with desk(partial(echo_metadata, port=port)) as at:
        given = body(name="two", listen=f"127.0.0.1:{port}", upstream=at.proxy.upstream)
        two = await at.store.create(given)
        for proxy in (at.proxy, two):
            at.proxy = proxy
            assert set((await told(at)).values()) == {f"127.0.0.1:{port}"}
            assert proxy._proxy is not None
            nodes = proxy._proxy.topology.nodes.values()
            assert {node.listen for node in nodes} == {NOWHERE}


async def test_the_upstream_of_a_proxy_has_its_id_once_somebody_was_told_it() -> None:
    async with desk(echo_metadata) as at:
        two = await at.store.create(body(name="two", listen="127.0.0.1:0", upstream="b:1"))
        node = Node("broker", 7, ("B", 1), NOWHERE)
        assert at.store.elsewhere(at.proxy, node) == two.address
        await at.store.update("two", body(upstream=at.proxy.upstream))
        assert at.store.elsewhere(at.proxy, node) is None
        own = Node("broker", 7, at.proxy.target, NOWHERE)
        assert at.store.elsewhere(two, own) == two.address
        rule = {"match": {"broker": 7}, "do": "close"}
        two.add(body(type="kafka", attributes={"rule": rule}))
        at.proxy = two
        reader, writer = await at.connect()
        writer.write(request("Metadata", 1))
        assert await read_all(reader) == b""


async def test_brokers_that_a_proxy_listens_for_itself_have_their_ports_again() -> None:
    async with desk(echo_metadata) as at:
        own = await told(at)
        await at.store.update("one", body(enabled=False))
        for place in own.values():
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
        await at.store.update("one", body(enabled=True))
        for place in own.values():
            _, writer = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
            writer.close()
        assert await told(at) == own


async def test_a_toxic_may_refuse_one_partition() -> None:
    async with desk(echo_metadata) as at:
        only = {"topic": "t", "partition": [1, "3-4"]}
        do = {"respond": {"error": "NOT_LEADER_OR_FOLLOWER", "only": only}}
        rule = {"match": {"api": "Produce", "direction": "request"}, "do": do}
        at.proxy.add(body(type="kafka", stream="upstream", attributes={"rule": rule}))
        (found,) = at.proxy.rules().rules
        config = found.do[0].config
        assert isinstance(config, Respond)
        concerns = config.concerns
        assert concerns is not None
        assert [concerns(produced(*[None] * count)) for count in (2, 1)] == [
            True, False
        ]  # fmt: skip


async def test_a_rule_is_a_toxic() -> None:
    async with desk(echo_metadata) as at:
        await told(at)
        rule = {"match": {"api": "Metadata"}, "do": "close"}
        given = body(type="kafka", attributes={"rule": rule}, toxicity=0.25)
        toxic = at.proxy.add(given)
        assert toxic.shown()["attributes"] == {"rule": rule}
        (found,) = at.proxy.rules().rules
        assert (found.name, found.when.probability) == ("kafka_downstream", 0.25)
        at.proxy.change("kafka_downstream", body(toxicity=1))
        reader, writer = await at.connect()
        writer.write(request("Metadata", 1))
        assert await read_all(reader) == b""
        at.proxy.remove("kafka_downstream")
        assert len(await told(at)) == 3


@pytest.mark.parametrize(("attributes", "said"), [
    ({}, "rule:1: "),
    ({"rule": {"do": "clos"}}, "unknown fault 'clos' in do; did you mean 'close'?"),
    ({"rule": "close"}, "bad request body: rule of attributes must be an object"),
    ({"rule": {"do": "close", "match": {"api": "Nothing"}}}, "Nothing"),
])  # fmt: skip
async def test_a_rule_that_is_wrong_is_refused_and_changes_nothing(
    attributes: dict[str, object], said: str
) -> None:
    async with desk() as at:
        with pytest.raises(ApiError) as found:
            at.proxy.add(json.dumps({"type": "kafka", "attributes": attributes}).encode())
        assert found.value.status == 400
        assert said in found.value.message
        assert at.proxy.toxics == []
        rule = {"name": "cut", "do": "close"}
        name = at.proxy.add(body(type="kafka", attributes={"rule": rule})).name
        with pytest.raises(ApiError):
            at.proxy.change(name, body(attributes={"rule": {"do": "clos"}}))
        with pytest.raises(ApiError, match="'cut'"):
            at.proxy.add(body(name="b", type="kafka", attributes={"rule": rule}))
        assert at.proxy.toxic(name).attributes == {"rule": rule}


async def test_a_reset_puts_connections_under_other_rules_once() -> None:
    said = list[str]()
    store = new_store(said)
    proxy = await store.create(body(name="a", listen="127.0.0.1:0", upstream="127.0.0.1:1"))
    for name in ("one", "two", "three"):
        rule = {"match": {"api": "Metadata"}, "do": "close"}
        proxy.add(body(name=name, type="kafka", attributes={"rule": rule}))
    said.clear()
    await store.reset()
    assert proxy.toxics == []
    assert len([line for line in said if line.startswith("scenario:")]) == 1
    await store.end()
