"""Captures at scale: tables, analyses and a report, on Spark.

Captures are read as by the sequential reader of `barnabas.captures`, in parts that any worker can read. Spark
only moves rows: each stage is a generator without Spark, and tests run all stages with a sort instead of a
shuffle.

1. `reading/` cuts files into ranges of bytes and reads each as arrays of offsets. A survey makes exact
  pieces: facts that concern several ranges (packet numbers, sections, TLS keys, fragments) are known, not
  guessed. A row for each stretch of a flow has the offsets of its payload in the file, so that the shuffle
  moves little data.
2. Rows are grouped by flow; `reading/flows.py` reads one flow after another with the core's own reassembly,
  pairing and context, in bounded memory. Facts about all flows (connection numbers, topic names, brokers) are
  gathered from the flows' outcomes and added at the end.
3. `rows/` makes rows of exchanges, with a plan for each set of columns, so that a body is decoded once or not
  at all. Bodies are written as VARIANT by code that is generated from their layouts.
4. `tables/` writes Parquet in the tasks themselves: no exchange passes through the JVM, which took 10 CPU
  seconds for 512 MiB of captures, 50 with bodies. A run's tables are installed atomically; they can be Delta
  or Iceberg tables, too.
5. `analyses/` queries the tables, `report/` makes one HTML page of the results; `streaming/` follows a
  growing capture, and sends it to a topic; `spark/` makes sessions of every kind.

Buffers are bounded by bytes, not by rows. The reader's bounds hold for each flow here, so there may be more
conversations than the sequential reader follows.
"""
