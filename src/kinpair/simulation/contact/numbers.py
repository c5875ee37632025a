"""Numbers that contact keeps in the state and gives at samples: how many, and where each of them is."""

from __future__ import annotations

KEPT = 4  # numbers of a contact point at samples: its slot + 1, and its force in world axes
ACTIVE = 8  # numbers of a closed point in the state: slot + 1, phase, direction of sliding, force at the last event
SUMS = 2  # numbers before them: energy lost in impacts and in friction
GUARDS = 4  # values that are watched between events
LEDGER = 8  # numbers of a time step
IMPACT, FRICTION, SEPARATION, REDUCTION, RESIDUAL, POINTS, DEPTH, UNMET = range(LEDGER)
