"""`make bench`: what the proxy costs beside a direct connection, and the codecs beside others.

All figures are measured when it runs; those of one run compare, those of two machines do not.

Each part has a module with `measure` and `table` or `tables`: one that drives a real
broker by Kafka's own clients stands beside `proxies` and takes its kinds from `targets`.
"""
