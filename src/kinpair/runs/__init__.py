"""What a simulation gives: samples, words, pictures, files; and the calls that make runs and go on with them.

progress       a bar on the terminal
hdf5           HDF5 files opened without harm from damage
targets        files that may be written
samples        what the numbers of a sample are
contacts       contact at samples: forces, slip, phases, losses
vectors        names and units of their entries
history        which mode was in force at each sample
record         what a simulation gives, as data
accelerations  accelerations and reactions at samples
summary        a run in words
friction_panel  friction of a run as curves
pictures       a run as curves
portraits      phase portraits, energy by where it came from and went to
recording      a run to be played
report         a run as a page
files          a run in a file
result         what a simulation gives
judgement      an error, a warning or a status alone for a run that did not go well
collected      pieces in memory, as a result
load           `kp.load_run`
recorder       writes the pieces of a run to its file
stream         a run written to its file as it goes
resume         `kp.resume`
simulate       `kp.simulate`
"""
