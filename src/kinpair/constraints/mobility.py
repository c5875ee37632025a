"""Former place of `kinpair.constraints.rows.mobility`."""

from kinpair.errors import moved

__getattr__ = moved(__name__, ("Mobility", "independent_rows"), "kinpair.constraints.rows.mobility")
