"""The consumer rewrite of 0.9 that never shipped: schemas, peers, checks, experiments; see README.md."""
