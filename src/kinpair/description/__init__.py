"""Descriptions of mechanisms: the parts of a mechanism as plain data, and readers and writers for them."""
