"""Responses that report errors, made from requests.

`error_response` refuses a whole request. `split` divides a request into the entries that are refused and the
rest, and `merge` puts the errors into the broker's response. `pairs` finds which arrays of a response answer
which arrays of its request, `identities` what their entries identify, and `reach` which APIs have such
entries.
"""
