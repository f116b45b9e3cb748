"""`barnabas serve-tests`: proxies for tests in any language."""
