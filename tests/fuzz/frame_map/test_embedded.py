"""Messages inside fields of bytes have maps of their own, and changes in them are put back into the frame."""

from __future__ import annotations

import pytest

from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.frame_map.compressed import charts_of
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.fuzz.generators.hidden import subscription as metadata
from barnabas.fuzz.sessions.bodies import body
from barnabas.specs import Frame, decode_frame, encode_frame
from barnabas.specs.embedded.reveal import reveal
from barnabas.specs.keys import JOIN_GROUP


def joining(version: int, assignor: str, data: bytes | None = None) -> Seed:
    """Return a JoinGroup request with a member's metadata in a version of the consumer protocol."""
    rows = [{"name": assignor, "metadata": data or metadata(version, assignor)}]
    request = body(JOIN_GROUP, 5, protocols=rows)
    assert request is not None
    header = {"correlation_id": 1, "client_id": "barnabas"}
    frame = encode_frame(Frame("request", JOIN_GROUP, 5, header, dict(request)))[4:]
    return Seed(JOIN_GROUP, 5, "request", frame, "test")


PREFIX = "protocols[0].metadata.ConsumerProtocolSubscription"


@pytest.mark.parametrize("version", range(4))
def test_every_byte_of_metadata_is_in_a_part(version: int) -> None:
    (inner,) = charts_of(map_of(joining(version, "range")))[1:]
    covered = bytearray(len(inner.seed.frame))
    for part in inner.parts[1:]:
        covered[part.start : part.end] = b"\1" * (part.end - part.start)
    assert all(covered)
    assert inner.parts[0].path == PREFIX
    assert (f"{PREFIX}.owned_partitions.count" in inner.index) == (version >= 1)
    assert (f"{PREFIX}.rack_id" in inner.index) == (version >= 3)


@pytest.mark.parametrize(
    ("assignor", "field"),
    [
        ("sticky", "StickyAssignorUserData.previous_assignment[0].topic"),
        ("cooperative-sticky", "CooperativeStickyAssignorUserData.generation"),
    ],
)
def test_user_data_of_assignors_is_mapped_in_the_metadata(assignor: str, field: str) -> None:
    inner = charts_of(map_of(joining(3, assignor)))[-1]
    assert f"{PREFIX}.user_data.{field}" in inner.index


def test_bytes_of_no_known_message_have_no_map() -> None:
    assert charts_of(map_of(joining(0, "range", b"\0\0\0\0\0\7")))[1:] == ()


def test_a_change_is_in_the_message_and_the_lengths_around_it_fit() -> None:
    path = f"{PREFIX}.user_data.StickyAssignorUserData.previous_assignment[0].topic"
    seed = joining(3, "sticky")
    for draws in range(40):
        case = cook(Recipe(seed, (Change("emptiness", path, draws << 24),)), 0)
        if "unchanged" in case.recipe.changes[0].detail:
            continue
        request = decode_frame(case.chunks[0][4:], "request").body
        values = reveal(JOIN_GROUP, "request", request)["protocols[0].metadata"]
        user_data = values["inside"]["user_data"]["values"]
        assert user_data["previous_assignment"] == [{"topic": "", "partitions": [0]}]
        return
    pytest.fail("every case has a wrong length")
