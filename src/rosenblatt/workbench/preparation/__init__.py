"""From the columns of a table to what models take, learned on training rows alone."""
