"""Captures in pieces that tasks read by themselves: arrays of packets, flows, exchanges. No Spark here."""
