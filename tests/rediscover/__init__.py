"""How much the fuzzer finds of what is known: published robustness bugs of released versions.

The same campaigns run against the release that has a bug and the one that mended it; they know of no bug.
"""
