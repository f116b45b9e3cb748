"""Reads captures in shares of connections that are processed independently: exchanges, and facts.

There is no Spark in this package.

1. `paths.py` sorts the files. `share_outcomes.py` reads a share of the connections with the reader of
  `captures/` and yields outcomes (`outcomes.py`), whose rows `event_rows.py` makes.
2. `facts.py` gathers facts from the outcomes of all shares and completes exchanges; `capture_facts.py` has
  those about files.
3. `side_tables.py` and `packet_rows.py` make other rows.
"""
