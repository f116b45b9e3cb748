"""The typed columns of an exchange's bodies: a small file for each family of APIs, and one table of them."""
