"""List what counts as zero, equal or without direction in friction: value, unit and reason; relative without unit."""

from __future__ import annotations

NEGATIVE = -1e-12  # [N m], [N]: what is less negative is rounding of a level that reaches zero
FADED_SPEED = 1e-150  # a smaller part of the Stribeck speed counts as zero
SAME_MOTION = 1e-7  # accelerations that differ by less than this part of the largest are one motion
HELD_RANK = 1e-10  # of the responses of held rates to efforts: less is rounding, where constraints join them
NO_EFFECT = 1e-11  # a response below this part of the largest counts as zero
AT_BOUND = 1e-9  # of a bound: a friction force as near to it has reached it
LEAST_LOAD = 1e-15  # [N]: what a load of zero may have
LEAST_SQUARE = LEAST_LOAD**2  # [N²]: √ has no derivative at zero
MET = 1e-10  # |F| against the largest load: the loads of compiled sweeps are found
NO_DIRECTION = 1e-12  # [m/s]: sliding slower than this has no direction of its own
CREEP = 5e-10  # [m/s]: in runs several rates that slide slower keep the direction in which they began to
NOTHING = 1e-300  # so that no friction at all is no division by zero
FINE = 1e-13  # |F| against the largest load: the loads of a step of the path from mu = 0 are found
SURE_PIVOT = 1e-9  # a pivot above proves that no other loads fit
