"""What a person writes: the parts of a mechanism as plain data, and readers and writers for them."""
