"""Methods of stepping.

tableaux             explicit Runge–Kutta methods as data
steps                steps that are not explicit Runge–Kutta
generalised_alpha    the generalised-α method under constraints
contact_terms        what loop functions of contact read of a mechanism
load_terms           what time steps read of surfaces under load
contact_between      contact between events
time_stepping        time steps with contact (Moreau–Jean)
looped               the programs of a run as loops over the bodies, for long mechanisms
looped_alpha         the generalised-α method as loops over the bodies
integrators          which method takes what; methods by name, and the flow that each makes of a mechanism
"""
