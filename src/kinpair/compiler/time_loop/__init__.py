"""Many steps of a recorded flow in one call of machine code.

tableau   Runge–Kutta methods as data that checks itself
inputs    parameters, a table, and a Python function that the loop calls
code      writing the LLVM text of a function that has loops
turns     sines and cosines of the entries of a state, many at once
parts     what a loop is made of: recorded programs and the memory they share
step      pieces that every loop has: stages, linear combinations, inputs, what follows a step
memory    the memory of a loop that chooses its steps, and its settings
lengths   how long a step may be
bracket   a bracket around the first root of some guards
roots     where in a step a guard leaves its side, and what is done there
standing  where a run stands when a loop returns, and what made it return
fixed     a loop of equal steps, for one trajectory or for lanes
adaptive  a loop that chooses its steps
loop      compiled loops, ready to be called
resident  steps of a fixed loop on memory that stays

A module imports only what stands above it; a test checks it.
"""
