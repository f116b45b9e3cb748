"""The draft of 0.8.2: frames written by hand, to be checked against the document."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas import specs
from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from tests.designs.by_hand import ByHand, agrees

FRAMES = (
    ByHand(
        "ConsumerMetadata", "request",
        {"api_key": 10, "api_version": 0, "correlation_id": 7, "client_id": "me"},
        {"group_id": "g"},
        None,
        """
        0000000f                # size
        000a 0000 00000007      # api_key, version, correlation
        0002 6d65               # client_id
        0001 67                 # GroupId => String
        """,
    ),
    ByHand(
        "ConsumerMetadata", "response",
        {"correlation_id": 7},
        {"error_code": 0, "node_id": 1, "host": "h", "port": 9092},
        None,
        """
        00000011                # size
        00000007                # correlation
        0000                    # ErrorCode
        00000001 0001 68 00002384  # the coordinator: id, host, port
        """,
    ),
    ByHand(
        "JoinGroup", "request",
        {"api_key": 11, "api_version": 0, "correlation_id": 8, "client_id": None},
        {
            "group_id": "g", "session_timeout": 30000, "topics": ["t"], "consumer_id": "",
            "partition_assignment_strategy": "range",
        },
        None,
        """
        00000021                # size
        000b 0000 00000008 ffff # api_key, version, correlation, no client_id
        0001 67                 # GroupId                     => String
        00007530                # SessionTimeout              => int32
        00000001 0001 74        # Topics                      => [String]
        0000                    # ConsumerId                  => String
        0005 72616e6765         # PartitionAssignmentStrategy => String
        """,
    ),
    ByHand(
        "JoinGroup", "response",
        {"correlation_id": 8},
        {
            "error_code": 0, "group_generation_id": 1, "consumer_id": "c",
            "assigned_partitions": [{"topic": "t", "partitions": [0, 1]}],
        },
        None,
        """
        00000020                # size
        00000008                # correlation
        0000                    # ErrorCode         => int16
        00000001                # GroupGenerationId => int32
        0001 63                 # ConsumerId        => String
        00000001                # PartitionsToOwn   => [TopicName [Partition]]
          0001 74
          00000002 00000000 00000001
        """,
    ),
    ByHand(
        "Heartbeat", "request",
        {"api_key": 12, "api_version": 0, "correlation_id": 9, "client_id": "me"},
        {"group_id": "g", "group_generation_id": 1, "consumer_id": "c"},
        None,
        """
        00000016                # size
        000c 0000 00000009      # api_key, version, correlation
        0002 6d65               # client_id
        0001 67                 # GroupId           => String
        00000001                # GroupGenerationId => int32
        0001 63                 # ConsumerId        => String
        """,
    ),
    ByHand(
        "Heartbeat", "response",
        {"correlation_id": 9},
        {"error_code": 22},
        None,
        "00000006 00000009 0016  # size, correlation, ErrorCode: IllegalGeneration",
    ),
    ByHand(
        "LeaveGroup", "request",
        {"api_key": 13, "api_version": 0, "correlation_id": 10, "client_id": ""},
        {"group_id": "g", "consumer_id": "c"},
        None,
        """
        00000010                # size
        000d 0000 0000000a 0000 # api_key, version, correlation, client_id
        0001 67                 # group_id
        0001 63                 # consumer_id
        """,
    ),
    ByHand(
        "OffsetCommit", "request",
        {"api_key": 8, "api_version": 1, "correlation_id": 11, "client_id": ""},
        {
            "group_id": "g", "group_generation_id": 1, "consumer_id": "c",
            "topics": [
                {
                    "topic": "t",
                    "partitions": [{"partition": 0, "offset": 5, "timestamp": -1, "metadata": "m"}],
                }
            ],
        },
        None,
        """
        00000036                # size
        0008 0001 0000000b 0000 # api_key, version 1, correlation, client_id
        0001 67                 # ConsumerGroup     => string
        00000001                # GroupGenerationId => int32
        0001 63                 # ConsumerId        => String
        00000001 0001 74        # [TopicName
        00000001                #   [
          00000000              #     Partition     => int32
          00000000 00000005     #     Offset        => int64
          ffffffff ffffffff     #     TimeStamp     => int64
          0001 6d               #     Metadata      => string
        """,
    ),
    ByHand(
        "OffsetCommit", "response",
        {"correlation_id": 11},
        {"responses": [{"topic": "t", "partition_responses": [{"partition": 0, "error_code": 16}]}]},
        None,
        """
        00000015                # size
        0000000b                # correlation
        00000001 0001 74        # [topic
        00000001 00000000 0010  #   [partition, error_code]]
        """,
    ),
    ByHand(
        "LeaveGroup", "response",
        {"correlation_id": 10},
        {"error_code": 25},
        None,
        "00000006 0000000a 0019  # size, correlation, error_code: UnknownConsumerId",
    ),
)  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_frames_written_by_hand(frame: ByHand) -> None:
    agrees(REWRITE_0_8_2, frame)


def leaves(value: Any) -> list[Any]:
    """The values in wire order, without their names."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    return [len(value), *map(leaves, value)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_all_but_join_group_was_released_with_the_same_bytes(frame: ByHand) -> None:
    api = REWRITE_0_8_2.api(frame.api)
    ours = (api.request if frame.direction == "request" else api.responses[0]).codec(api.version)
    kafkas = specs.api(api.key).message(frame.direction).codec(api.version)
    body = ours.encode(frame.body)
    if frame.api == "JoinGroup":
        with pytest.raises(specs.Malformed):
            kafkas.decode(body)
        return
    values, oddities = kafkas.inspect(body)
    assert (leaves(values), oddities) == (leaves(frame.body), [])
