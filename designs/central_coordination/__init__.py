"""Central consumer coordination in 0.7's format: schemas, peers, checks, experiments; see README.md."""
