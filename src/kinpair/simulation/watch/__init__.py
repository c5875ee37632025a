"""What looks at a motion while it is made and afterwards: energy, momentum, constraints, and why it ended."""
