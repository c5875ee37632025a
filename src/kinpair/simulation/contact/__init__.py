"""Contact in time steps: rows of contact points, limits and dry friction, one problem over impulses. In order of use:

numbers     what contact keeps in the state and gives at samples
tree        factors of a mass matrix with the sparsity of a tree, responses of rows
rows        rows of contact points and of single rates, groups of the problem
loads       friction from load: radii that depend on the impulses of all items
items       contact points, limits, rates with friction and surfaces under load of a step, and their problem
closing     items that close in a step: bias, restitution, positions, energy
separation  overlaps that are reduced by a displacement
prediction  where contact points are at the end of a step
step        a time step (Moreau–Jean)
between     contact between events: phases are fixed, closed rows are equalities
stepped     what a time step is about: geoms, pairs, limits

All but `numbers` and `stepped` are loop functions. `methods/time_stepping.py` records what is before and after them.
"""
