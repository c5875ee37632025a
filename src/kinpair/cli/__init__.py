"""The command `kinpair`: each command parses, calls the library and prints."""
