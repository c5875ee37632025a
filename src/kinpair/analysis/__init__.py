"""Statements about a mechanism as a whole: its formulations next to each other."""
