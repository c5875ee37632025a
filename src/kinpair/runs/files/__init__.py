"""A run in a file.

claims          the right to write a file
slate           places in an HDF5 file that are written directly
stored_options  what a simulation was given
checksums       what was written, to be compared with what is there
checkpoint      where a run stands
stored_events   events and modes
file_layout     what a file holds
stored          a file as it is read
save            a result written at once
"""
