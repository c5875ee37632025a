"""A mechanism checked, numbered and frozen: what the equations are written on."""
