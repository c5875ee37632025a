"""Methods of stepping.

dop853_coefficients  numbers of Dormand and Prince
tableaux             explicit Runge–Kutta methods as data
steps                steps that are not explicit Runge–Kutta
generalised_alpha    the generalised-α method under constraints
integrators          methods by name, and the flow that each makes of a mechanism
"""
