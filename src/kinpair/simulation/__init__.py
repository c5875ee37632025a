"""Motion in time: from what is asked for (options, prepared) over runs to a Result; the loops are compiled."""
