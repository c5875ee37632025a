"""Times of rivals, as `kinpair.analysis` takes them."""

from kinpair.analysis.measuring import processor_time, race, repeated, wall_time

__all__ = ["processor_time", "race", "repeated", "wall_time"]
