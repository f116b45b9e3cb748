"""An accepted socket goes to another process with what is known of it."""

from __future__ import annotations

import os
import resource
import socket

import pytest

from barnabas.proxy.edits.topology import Node
from barnabas.proxy.network.listeners import Client
from barnabas.proxy.workers.handover import hand, handed, link

NODE = Node("broker", 1, ("b.example", 9092), ("127.0.0.1", 19093))


def client(number: int) -> tuple[socket.socket, Client]:
    """Return a client's own end, and the other end as the proxy has accepted it."""
    own, accepted = socket.socketpair()
    return own, Client(number, accepted, ("10.0.0.1", 5000 + number), NODE, leads_back=number == 2)


def handed_over(end: socket.socket, number: int) -> socket.socket:
    """Return the own end of a client that was handed over."""
    own, found = client(number)
    assert hand(end, found)
    assert found.socket.fileno() == -1
    return own


def test_it_arrives_whole_and_is_closed_here() -> None:
    ours, theirs = link()
    owns = [handed_over(ours, number) for number in (1, 2)]
    for own, found in zip(owns, handed(theirs, pytest.fail), strict=True):
        assert (found.address, found.node.upstream, found.node.listen) == (
            ("10.0.0.1", 5000 + found.number),
            NODE.upstream,
            NODE.listen,
        )
        assert found.leads_back == (found.number == 2)
        assert not found.socket.getblocking()
        own.sendall(b"hello")
        found.socket.setblocking(True)
        assert found.socket.recv(5) == b"hello"
        found.socket.close()
        own.close()
    assert list(handed(theirs, pytest.fail)) == []
    ours.close()
    theirs.close()


def test_where_there_is_no_room_it_stays() -> None:
    ours, theirs = link()
    owns: list[socket.socket] = []
    kept = None
    while kept is None:
        own, found = client(len(owns))
        owns.append(own)
        if not hand(ours, found):
            kept = found
    assert kept.socket.fileno() != -1
    for found in handed(theirs, pytest.fail):
        found.socket.close()
    assert hand(ours, kept)
    for each in (*owns, *(found.socket for found in handed(theirs, pytest.fail)), ours, theirs):
        each.close()


def test_nobody_is_there_to_take_it() -> None:
    ours, theirs = link()
    theirs.close()
    own, found = client(1)
    with pytest.raises(OSError, match=r"pipe|reset"):
        hand(ours, found)
    for each in (own, found.socket, ours):
        each.close()


def test_who_finds_no_descriptor_is_closed_and_those_behind_arrive() -> None:
    ours, theirs = link()
    owns = [handed_over(ours, number) for number in (1, 2)]
    lost: list[str] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))  # the next one is too many
    try:
        assert next(handed(theirs, lost.append), None) is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert lost == ["connection 1 (10.0.0.1:5001)", "connection 2 (10.0.0.1:5002)"]
    assert [own.recv(1) for own in owns] == [b"", b""]
    own = handed_over(ours, 3)
    (arrived,) = handed(theirs, lost.append)
    assert (arrived.number, len(lost)) == (3, 2)
    for each in (*owns, own, arrived.socket, ours, theirs):
        each.close()
