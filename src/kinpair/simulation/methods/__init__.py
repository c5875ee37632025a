"""How a motion goes on by a step: tables of coefficients, implicit methods, libraries that step by themselves."""
