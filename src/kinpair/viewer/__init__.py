"""Pictures of what was computed."""
