"""What the proxy changes without a rule.

`edits` are the changes to responses, `topology` knows which listener stands for which broker,
`version_ranges` which versions are offered.
"""
