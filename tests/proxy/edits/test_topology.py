"""Nodes and their listeners."""

from __future__ import annotations

import pytest

from barnabas.proxy.edits.topology import MOST, Address, Node, NoPort, Topology


def listening() -> tuple[Topology, list[Node]]:
    opened: list[Node] = []

    def listen(node: Node) -> Address:
        opened.append(node)
        return "127.0.0.1", 5000 + len(opened)

    return Topology(listen), opened


def test_a_node_keeps_its_listener_when_it_moves() -> None:
    topology, opened = listening()
    resolve = topology.resolver("127.0.0.1")
    assert resolve("broker", 7, "old", 1) == ("127.0.0.1", 5001)
    assert resolve("broker", 7, "new", 2) == ("127.0.0.1", 5001)
    assert [(node.id, node.upstream) for node in opened] == [(7, ("new", 2))]


def test_a_controller_is_not_the_broker_of_the_same_id() -> None:
    topology, opened = listening()
    resolve = topology.resolver("127.0.0.1")
    assert resolve("broker", 1, "b", 1) != resolve("controller", 1, "c", 2)
    assert [node.name for node in opened] == ["broker 1", "controller 1"]


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_a_listener_everywhere_is_advertised_as_the_client_reached_it(everywhere: str) -> None:
    topology = Topology(lambda node: (everywhere, 5000))
    assert topology.resolver("10.1.2.3")("broker", 1, "b", 1) == ("10.1.2.3", 5000)


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_a_link_local_address_is_told_with_its_scope(everywhere: str) -> None:
    for listen, came in ((everywhere, "fe80::1%eth0"), ("fe80::1%eth0", "fe80::1%eth0")):
        topology = Topology(lambda node, listen=listen: (listen, 5000))  # type: ignore[misc]
        assert topology.resolver(came)("broker", 1, "b", 1) == ("fe80::1%eth0", 5000)


def test_a_response_can_not_invent_endless_brokers() -> None:
    topology, opened = listening()
    for number in range(MOST):
        topology.node("broker", number, ("b", 1))
    with pytest.raises(NoPort, match="over 1000 brokers"):
        topology.node("broker", MOST, ("b", 1))
    assert topology.node("broker", 5, ("b", 2)).listen[1] == 5006
    assert len(opened) == MOST


@pytest.mark.parametrize("listen", ["127.0.0.1", "0.0.0.0"])
def test_what_is_advertised_stands_for_every_listener(listen: str) -> None:
    topology = Topology(lambda node: (listen, 5000))
    resolve = topology.resolver("10.1.2.3", "kafka.test")
    assert resolve("broker", 1, "b", 1) == ("kafka.test", 5000)
