"""Constraints of the motion beyond the joints, as rows A q̇ + a = 0, A q̈ = b; and what follows from them.

rounding    what counts as zero, equal or dependent: one table
solvers     accelerations under rows, one solver a file; of one state with the rank found there
rows        loops, rolling, drives, functions of a user: their rows, mobility, checks, tables
quantities  the quantities of a mechanism under constraints, and the one solve for accelerations
reactions   what joints and loops carry, by name: wrenches, loads of bearings and motors
solve       multipliers in sets: the one problem of friction at rest, limits and impacts
assembly    positions, rates, efforts and derivatives of a mechanism under constraints
soundness   the joint that makes a solve for accelerations fail, and the error of a solve

A module imports only what stands above it; a test checks it. The first four are equations over any arrays and know no
compiler. `solve` is written in loop functions of the compiler, and `assembly` calls compiled quantities, so both stand
after `compiler/` and `evaluation/` in the order of the whole library.
"""
