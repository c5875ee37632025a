"""Arrays of formulations and solvers in the symbols of their sources.

record        the arrays of one state: symbols with equation numbers, tables, LaTeX
saha          Saha 1999: the decoupled natural orthogonal complement
zhao_gu       Zhao & Gu 1991: distribution matrices
vukobratovic  Vukobratović, chapters 1 to 3: linear forms, Lagrange's forms, Renaud's graph
euler         Vukobratović 2.1.2 and 2.2.3: Euler angles of the links
history       sources beyond the first four
kinpair_walk  the algorithm KINPAIR step by step
formulation   `formulation(name).arrays(m, q, qd)`, `solver(name).arrays(m, q, qd)`
"""
