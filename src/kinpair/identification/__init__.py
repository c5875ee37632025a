"""Parameters of a real mechanism from its log: physically consistent, with friction and intervals.

log             columns of a file or table, by joint, checked
signals         uniform samples, zero-phase filters, differences
inertia_space   pseudo-inertias: bases, moves, measurements
friction_terms  friction as columns, and columns as laws of the library
columns         what the efforts are a linear function of
rows            filtered rows of all runs, with the joint and the block of each
base_parameters  independent combinations: by rank, and from the structure
estimators      least squares by equation: ordinary, weighted, robust, total, with instruments
intervals       covariance of correlated residuals, bootstrap of blocks
consistency     the entropic prior: positive pseudo-inertias by Newton's method
choice          friction terms and weight of the prior by cross-validation
gains           drive gains from a payload of known mass
suspicions      signs, units, order of axes, joints that do not move
fitted          identified parameters: values, intervals, predictions, scores
new_description  identified values as a description, TOML and URDF
pictures        curves and bars of a result
page            a result as one page of HTML
identification  what identification gives
output_error    parameters by simulation in the loop
identify        `kp.identify`

A module imports only what stands above it; a test checks it.
"""
