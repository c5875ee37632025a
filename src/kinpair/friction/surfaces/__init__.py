"""Surfaces in joints that slide under load: their friction grows with what the joint carries.

surface  what every surface answers; Coulomb's and Stribeck's coefficient
bearing  journal bearings of hinges and cylindrical joints, balls, crosses of universal joints; guides
thread   screws
gear     teeth, and servos whose friction grows with both torques
level    friction of a constant level, next to the others at rest
table    which law belongs to which pair; the surfaces of a model, and as elements
"""
