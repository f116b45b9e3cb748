"""The typed columns of an exchange: a small file for each family of APIs, and one list of them."""
