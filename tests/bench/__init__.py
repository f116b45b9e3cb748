"""`make bench`: what the proxy costs beside a direct connection, and the codecs beside others.

All figures are measured when it runs; those of one run compare, those of two machines do not.
"""
