"""The recorded clients: what they asked then is asked of a live cluster.

`plan` says what is sent, `order` in which order, `topics` what the live cluster lacks; `translation` puts
the live cluster's ids (`identities`, `offsets`, `batches`), versions (`versions`) and leaders of groups
(`generations`) in place of the recorded ones, `sessions` its fetch sessions; `routing` and `cluster` find the
broker that a request is for; `connection` carries it, `player` does all of it in turn, and `outcome`
compares the answers. `as_pytest` writes a few of them as a test, which asks by the same means.
"""
