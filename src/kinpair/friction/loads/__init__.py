"""Friction whose load is what the joints carry: accelerations, loads and friction as one small system.

system  the system, and Newton's method for it
tree    the response of a tree, by any formulation; the same with accelerations as unknowns
contraction  is there one solution while every surface slides? a proof, compiled
dynamics  forward and inverse dynamics of a tree
closer  in floats, from μ = 0, where the unrolled sweeps do not end well
"""
