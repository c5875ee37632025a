"""Runs in files: written as they are made, opened, resumed, and kept from harm."""
