"""From an exchange to a row of a table: the columns, bodies as VARIANT, typed columns of bodies."""
