"""One phrase for each API that clients use: a few words made of fields of request and response.

Which fields they get stands in `barnabas.captures.kafka.log_line`. Any of them may be missing: the version
lacks it, or there is no such body. Nothing that is secret is named.
"""
