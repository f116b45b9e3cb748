"""Central coordination: frames written by hand, to be checked against the document."""

from __future__ import annotations

import pytest

from barnabas.designs.central_coordination.schemas import (
    CENTRAL_COORDINATION,
    stop_fetcher_response,
)
from barnabas.specs.dialect_frames import DialectFrame, encode_frame
from tests.designs.by_hand import ByHand, agrees

FRAMES = (
    ByHand(
        "ClusterMetadata", "request",
        {"request_type_id": 5}, {}, None,
        "00000002 0005           # size, request_type_id (reconstructed)",
    ),
    ByHand(
        "ClusterMetadata", "response",
        {"error_code": 0},
        {"coordinator_id": 3, "brokers_info": [{"id": 3, "host": "h", "port": 9092}]},
        None,
        """
        00000013                # size
        0000                    # error_code: int16
        00000003                # coordinator_id: int32
        0001                    # num_brokers: int16
          00000003              # id: int32
          0001 68               # host: string
          00002384              # port: int32
        """,
    ),
    ByHand(
        "RegisterConsumer", "request",
        {"request_type_id": 6},
        {
            "group_id": "g", "consumer_id": "c", "topic_count": "t:1", "auto_commit": True,
            "auto_offset_reset": "smallest", "session_timeout_ms": 6000,
        },
        None,
        """
        0000001c                # size
        0006                    # request_type_id: int16 (number reconstructed)
        0001 67                 # group_id: string
        0001 63                 # consumer_id: string
        0003 743a31             # topic_count: string
        01                      # auto_commit: boolean
        0008 736d616c6c657374   # auto_offset_rest: string
        00001770                # session_timeout_ms: int32
        """,
    ),
    ByHand(
        "RegisterConsumer", "response",
        {"error_code": 5}, {}, None,
        "00000002 0005           # size, error_code; no data needed",
    ),
    ByHand(
        "Ping", "request",
        {"request_type_id": 7}, {}, None,
        "00000002 0007           # size, request_type_id (reconstructed)",
    ),
    ByHand(
        "StopFetcher", "response",
        {"error_code": 0},
        {"offset_info": [{"topic": "t", "partition": "0-1", "offset": 258}]},
        "StopFetcherResponse",
        """
        00000014                # size: int32
        0000                    # error_code: int16
        0001                    # num_partition: int16
          0001 74               # topic: string
          0003 302d31           # partition: string
          00000000 00000102     # offset: int64
        """,
    ),
    ByHand(
        "StopFetcher", "response",
        {"error_code": 0}, {}, "StopFetcherResponseWithoutOffsets",
        "00000002 0000           # size, error_code; auto_commit is false: the last two fields do not exist",
    ),
    ByHand(
        "StartFetcher", "request",
        {"request_type_id": 9},
        {"offset_info": [{"topic": "t", "partition": "0-1", "offset": 258}]},
        None,
        """
        00000014                # size (from here on reconstructed)
        0009                    # request_type_id
        0001                    # num_partition
          0001 74 0003 302d31 00000000 00000102
        """,
    ),
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_frames_written_by_hand(frame: ByHand) -> None:
    agrees(CENTRAL_COORDINATION, frame)


@pytest.mark.parametrize("auto_commit", [True, False])
def test_offsets_are_there_if_the_consumer_commits_automatically(auto_commit: bool) -> None:
    name = stop_fetcher_response(auto_commit=auto_commit)
    frame = DialectFrame("response", "StopFetcher", {}, {}, name)
    data = encode_frame(CENTRAL_COORDINATION, frame)
    assert len(data) == (4 + 2 + 2 if auto_commit else 4 + 2)
