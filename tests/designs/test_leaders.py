from __future__ import annotations

from barnabas.designs.leaders import Cluster, cluster


def test_who_leads_and_what_is_wrong() -> None:
    parts = [
        {"error_code": 0, "partition_index": 0, "leader_id": 1},
        {"error_code": 9, "partition_index": 1, "leader_id": 1},
        {"error_code": 5, "partition_index": 2, "leader_id": -1},
        {"error_code": 0, "partition_index": 3, "leader_id": 7},
    ]
    body = {
        "brokers": [{"node_id": 1, "host": "h", "port": 9}],
        "topics": [
            {"error_code": 0, "name": "a", "partitions": parts},
            {"error_code": 5, "name": "new", "partitions": []},
        ],
    }
    assert cluster(body) == Cluster(
        {1: ("h", 9)},
        {("a", 0): 1, ("a", 1): 1},
        {("a", 1): 9, ("a", 2): 5, ("a", 3): 5, "new": 5},
        {"a": 4},
    )
