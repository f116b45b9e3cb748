"""What should never happen: malformed frames for brokers, clients and decoders, and what they make of them.

A campaign (`campaigns/campaign.py`) is a range of case numbers. `engine/making.py` makes the case of a
number from (seed, the round's energies, number) alone: a message from `generators/` or a corpus, changed by
one of `mutators/`. A target (`targets/`) runs it, which gives an observation; `oracles/` judge that, by what
`observations/` read in it.
"""
