"""The changes that the proxy makes without a rule.

`edits` changes responses; `topology` knows which listener belongs to which broker; `version_ranges` knows
which versions are offered.
"""
