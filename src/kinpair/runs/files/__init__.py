"""A run in a file.

checksums       checksums of parts, and checkpoints written in turn
file_layout     what a file of a run holds
stored          a file of a run as it is read; a result written at once
"""
