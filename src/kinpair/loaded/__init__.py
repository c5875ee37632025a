"""Friction whose load is what the joints carry: accelerations, loads and friction as one small system.

system  the system, and Newton's method for it
tree    the response of a tree, by any formulation
closer  in floats, from μ = 0, where the unrolled sweeps do not end well
"""
