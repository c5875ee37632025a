"""What happens on the way: events, limits, impacts, and the modes that a motion changes between."""
