"""franz-go's own test suite, pkg/kgo, directly and through the proxy: `make compat-franz`.

Nothing of it is kept here: the module comes by the Go module proxy, its tests with it.
"""
