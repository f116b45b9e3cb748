"""Rules at work.

`candidates` are the rules that a connection's messages may meet, `rule` is one with its counts, `rules`
decides which of them fire, `merged_effects` takes the effects of all together, `wording` says them.
"""
