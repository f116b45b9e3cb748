"""Captures at scale: tables, analyses and a report, on Spark.

The sequential reader of `barnabas.captures` reads them, in several tasks at the same time. Spark only moves
rows: each stage is a generator without Spark, and tests run all stages in one process.

1. `reading/` divides the connections of a capture into shares. A task reads all files, but follows only the
  connections of its share: passing over a packet takes little of the time that decoding takes, and packet
  numbers, sections, TLS keys and fragments are those of the sequential reader.
2. Facts about all connections (numbers, topic names, brokers) are gathered from the outcomes of the shares
  and added at the end.
3. `rows/` makes rows of exchanges, with a plan for each set of columns, so that a body is decoded once or not
  at all. Bodies are written as VARIANT by code that is generated from their layouts.
4. `tables/` writes Parquet in the tasks themselves: no exchange passes through the JVM, which took 10 CPU
  seconds for 512 MiB of captures, 50 with bodies. A run's tables are installed atomically; they can be
  Delta tables, too.
5. `analyses/` queries the tables, `report/` makes one HTML page of the results; `streaming/` follows a
  growing capture, and sends it to a topic; `spark/` makes sessions of every kind.

Buffers are bounded by bytes, not by rows. The reader's bounds hold for each share, so there may be more
conversations than the sequential reader follows.
"""
