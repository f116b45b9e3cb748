"""Reads captures in pieces that are processed independently: packet arrays, flows, exchanges.

There is no Spark in this package.

1. `ranges.py` cuts files into ranges, `blocks.py` reads a range, `survey.py` summarises it.
2. `plan.py` makes pieces from the surveys, `numbering.py` numbers their packets.
3. `tcp_segments.py` makes rows of segments, `runs.py` puts a flow's rows in packet order.
4. `flows.py` reads one flow and yields outcomes (`outcomes.py`), with `bulk_reassembly.py` and
  `event_rows.py`.
5. `facts.py` gathers facts from all outcomes and completes exchanges; `side_tables.py` and `packet_rows.py`
  make other rows.
"""
