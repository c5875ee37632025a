"""Numbers that count as zero in a run: one table, each number with its unit and its reason.

Numbers of contact are in `contact/`, those of problems in sets in `constraints/solve/`, tolerances that a user gives in
`given.py`.
"""

from __future__ import annotations

# rates and gaps
STILL = (
    1e-13  # [rad/s], [m/s]: a rate of a joint with dry friction; what is slower has the rounding of a step
)
STOPPED = (
    1e-9  # [rad/s], [m/s]: the rate of a gap that neither opens nor closes, and of a group that others carry
)
SLOW = 1e-6  # [m/s]: several rates that slide slower keep their direction, which has no digits left
CLOSED = 1e-9  # [rad], [m], times the limit above 1: a gap that impacts and events leave
SLACK = 1e-13  # [rad], [m], times the limit above 1: a limit is passed this far beyond it, not by rounding
TINY = 1e-300  # a rate of exactly zero counts as sliding on
NEVER_MOVED = 1e-6  # [rad/s], [m/s]: what never moves faster is at rest, and its energy is rounding

# forces at rest
BEYOND = 1e-11  # of the levels: a joint slides where more than this beyond them would be needed
BALANCE = 1e-14  # of the weight and the efforts: a difference of forces that balance by symmetry
DOUBTFUL = 1e-9  # of the levels: so near to one of them, the driver decides, not compiled code
BALANCED = 1e-11  # of the largest acceleration or impulse: one of the other sign
PULL = 1e-9  # [N], [N m]: a limit opens where it would pull by more

# impacts
RELATIVE = 1e-10  # of rates and energies: signs of rates behind an impact, growth of energy
UNCHANGED = 1e-9  # of the rates: an impact without collision changes more

# events
LOCATED = 1e-14  # of a step: how finely an event is located
BAND = 1e-8  # of the largest value of a function: a constraint keeps it at zero up to this
GRAZES = 1e-3  # of the time to a limit: the slack takes less, or the rate at the limit has no digits
VALUE = 1e-13  # of the value of an event's function at the start
STEP_END = 1e-12  # of a step: so near to its end is its end
AGREES = 1e-9  # of the value: a function of a user and its recording, which sums in another order

# constraints and energy
MASSLESS = 1e-12  # of the largest: singular value of a mass matrix without an inverse
REDUNDANT = 1e-12  # of the largest: size of a row of constraints that moves nothing
LOST_RANK = 1e-10  # of the first: pivot of constraints
LEAST = 1e-200  # pivots below are zero; one over them is still a number
ENERGY_KNOWN = 1e-12  # of the energies: what is known of their sum
MOMENTUM_KNOWN = 1e-12  # of the largest entry of the momentum
SAME_DIRECTION = 1e-9  # difference of unit vectors

# steps that are solved for
SOLVED = 1e-13  # of the largest rate or 1: change of the rates in the last round
RESIDUAL = 1e-14  # of coordinates and accelerations: some 45 times the spacing of numbers
