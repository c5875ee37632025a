"""What can be said about a mechanism as a whole: its formulations beside each other."""
