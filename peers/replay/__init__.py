"""The recorded clients: what they asked then is asked of a live cluster.

`plan` says what is sent, `order` in which order; `identities`, `offsets` and `batches` put the live
cluster's ids in place of the recorded ones, `versions` the live cluster's versions; `routing` and
`cluster` find the broker that a request is for; `connection` carries it, `player` does all of it in turn,
and `outcome` compares the answers.
"""
