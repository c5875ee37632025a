"""Results of a simulation: samples, words, pictures, files; and the calls that make runs and go on with them.

hdf5           HDF5 files opened without harm from damage, and written so that their structure is complete at once
targets        files that may be written, and the right of one process to write them
contacts       contact at samples: forces, slip, phases, losses
record         what a simulation gives, as data; samples by name and unit, and the mode active at each
accelerations  accelerations and reactions at samples
summary        a run in words
pictures        a run as curves, phase portraits and an energy balance
report         a run to be played, and as a page
files          a run in a file
result         what a simulation gives
judgement      pieces in memory as a result; an error, a warning or a status for a run that did not go well
load           `kp.load_run`
recorder       writes the pieces of a run to its file as it goes
simulate       `kp.simulate`
resume         `kp.resume`
"""
