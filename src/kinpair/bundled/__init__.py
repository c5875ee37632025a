"""Examples: mechanisms as TOML files, systems given by their energy as Python files with a function `system`."""
