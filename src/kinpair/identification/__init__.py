"""Parameters of a real mechanism from its log: physically consistent, with friction and intervals.

log             columns of a file or table, by joint, checked
columns         columns of the regressor: inertia, rotors, friction, offsets, and the space of pseudo-inertias
signals         from logged columns to filtered rows: the signal chain
base_parameters  independent combinations: by rank, and from the structure
estimators      estimators of β in A β = y, and the uncertainty of what they give; drive gains
consistency     positive pseudo-inertias by Newton's method; friction terms and weight of the prior
suspicions      signs, units, order of axes, joints that do not move
fitted          identified parameters: values, intervals, predictions, scores, descriptions
identification  identified parameters as files, pictures and a page
output_error    parameters by simulation in the loop
identify        `kp.identify`

A module imports only what stands above it; a test checks it.
"""
