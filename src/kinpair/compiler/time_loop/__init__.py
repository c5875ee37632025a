"""Many steps of a recorded flow in one call of machine code.

tableau   Runge–Kutta methods as data that checks itself
inputs    parameters, a table, and a Python function that the loop calls
code      writing the LLVM text of a function that has loops
parts     what a loop is made of: recorded programs, sines and cosines before them, the memory they share
step      pieces that every loop has: stages, linear combinations, inputs, what follows a step
memory    the memory of a loop that chooses its steps, its settings, and where a run stands when it returns
lengths   how long a step may be
bracket   a bracket around the first root of some guards
roots     where in a step a guard leaves its side, and what is done there
fixed     a loop of equal steps, for one trajectory or for lanes
adaptive  a loop that chooses its steps
loop      compiled loops, ready to be called; such as work on memory that stays

A module imports only what stands above it; a test checks it.
"""
