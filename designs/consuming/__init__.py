"""Consumers of the designs that fetch records: `fetcher.py` reads from partition leaders in 0.8's v0, and
`rewrite.py` and `central.py` fetch what the group's coordinator gives them, and stop when it says so;
`either.py` takes the design's name. `designs.py` and `topics.py` find out why brokers give nothing."""
