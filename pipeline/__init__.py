"""Captures at scale: tables, analyses and a report, on Spark.

Captures are read as the pure reader of `barnabas.captures` does, in parts that are read anywhere. Spark
only moves rows: each stage is a generator without it, and tests run them all with a sort for a shuffle.

1. `reading/` cuts files into ranges of bytes and reads each as arrays of what stands where. A survey makes
   exact pieces of what does not fit into one range, so no guess is left: packet numbers, sections, keys of
   TLS, fragments. A row for each stretch of a flow says where its payload is in the file, so that the
   shuffle moves next to nothing.
2. Rows are brought together by flow; `reading/flows.py` reads one flow after the other by the core's own
   reassembly, pairing and context, in bounded memory. What concerns all flows (connection numbers, topic
   names, brokers) is gathered from what each said and put in at the end.
3. `rows/` makes rows of exchanges: a plan for each set of columns, so that a body is decoded once or not at
   all; bodies as VARIANT, written by code made of their layouts.
4. `tables/` writes Parquet in the tasks themselves: between Arrow and Parquet no exchange passes the JVM,
   which cost it 10 CPU seconds for 512 MiB of captures, 50 with bodies. A run's tables take their place
   whole; they can be Delta or Iceberg tables, too.
5. `analyses/` asks the tables, `report/` makes one HTML page of the answers; `streaming/` follows a capture
   that is still being written, and sends it to a topic; `spark/` has sessions of every kind.

What is kept at once is bounded by bytes, not by rows. The reader's bounds hold for each flow here, so there
may be more conversations than it follows.
"""
