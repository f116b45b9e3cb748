"""SQL that says the same as Python's own of an exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.checks.finding import client_key
from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.analyses.expressions import CLIENT, CLIENT_KEY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)  # with the start of a JVM, on whatever machine


def test_a_client_is_the_same_in_sql(spark: SparkSession) -> None:
    ids, addresses = ("orders", "", None), ("10.0.0.1:5000", "[::1]:5000")
    made = [(one, address) for one in ids for address in addresses]
    table = spark.createDataFrame(made, "client_id string, client_address string")
    found = table.select(F.expr(CLIENT).alias("client"), F.expr(CLIENT_KEY).alias("key")).collect()
    exchanges = [Exchange(0, 1, address, one, None, 3, 0, 0, 0) for one, address in made]
    assert [(row["client"], row["key"]) for row in found] == [
        (exchange.client, client_key(exchange)) for exchange in exchanges
    ]
