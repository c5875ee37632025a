"""List what counts as zero, equal or dependent in constraints: value, unit and reason; relative without unit."""

from __future__ import annotations

RANK = 1e-8  # a singular value below this part of the largest is taken as zero
CONSISTENT = 1e-6  # b may miss the range of A by this much of its size
SHORT = 1e-2  # of the longest row: a shorter one is scaled as if it had this length
SHARED = 1e-8  # of a unit load that redundant rows carry against each other: a smaller part is rounding
LOST_INERTIA = 1e-12  # an inertia below this part of what it is judged by counts as zero
BALANCED = 1e-8  # what may stay unbalanced, against the size of the efforts needed
LEAST_SIGMA = 1e-3  # rows of length one whose largest singular value is below have rank zero
LOADS = 1e-12  # a singular value of rows below this part of the largest carries no load
SHORT_COLUMN = 1e-10  # of the longest column: a shorter one says nothing
NO_LENGTH = 1e-300  # so that nothing at all is no division by zero
UNBALANCED = 1e-6  # [N m], [N]: a joint with less left to balance is not named
DEPENDENT_COLUMN = 1e-7  # part of a column of length one beyond those before it: below, it depends on them
MASS_SOUND = 1e-12  # a pivot of the mass matrix below this part of its scale is looked at closely
EMBEDDED_SOUND = 5e-3  # pivots of A itself; A₁⁻¹ enters twice, and rounding grows to some 1e-10
ENERGY_SOUND = 1e-2  # the same where A₁⁻¹ is differentiated too
SQUARED_SOUND = 5e-4  # pivots of A M⁻¹ Aᵀ, by which rounding grows once
FADED = 1e-6  # a row shorter than this part of the longest is mostly rounding
ENERGY_FADED = 1e-3  # the same where A₁⁻¹ is differentiated
HOLDS = 1e-6  # how far a row left out may be from holding, against the accelerations
WIDE_OPEN = 1e-3  # [rad], or a part of the mechanism's reach: no drift of an integration, but a wrong q
REACHED = 1e-5  # a pivot of B Bᵀ below this part of its entry: the actuators hardly reach a motion
EMPTY = 1e-12  # length of a row that says nothing, so that it can be divided by
SMALLEST = 1e-12  # |A Aᵀ| counts as no less than this, see `constraints/rows/closing.py`
DAMPED_RATES = 1e-12  # of the entries that A M⁻¹ Aᵀ had: the rates change by 5e5 times ψ at most
STILL_RATE = 1e-13  # a rate this small, against one and the largest, counts as zero
INDEPENDENT = 1e-4  # what a row of length one must have beyond the others
REDUNDANT = 1e-8  # what a redundant row may have beyond the others
SHARING_KNOWN = (
    1e-9  # a pivot of BᵀCB below this part of its entry: compliances do not say who carries a load
)
PIVOT = 1e-3  # a rate that moves less than this beyond the rates chosen before is not independent of them
PART = 1e-8  # of a motion: a rate that moves less is rounding
STANDING = 1e-12  # a step of the rates below this part of them counts as zero
OPEN_LOAD = 1e-8  # of the largest wrench of a load without effect: a smaller component is rounding
LEAST_COMPLIANCE = 1e-10  # of the largest singular value: a load that compliances hardly see
OPEN_ROW = 1e-6  # [m] or [rad]: a residual beyond this is no rounding
LINEAR = 1e-9  # how little A changes with the rates where rows are linear in them
NARROW = (
    1e-3  # [rad], [m]: states spread over less are one place, at which a row that is not defined stays so
)
ROUNDING = 1e-9  # two numbers that differ by less, against their size, are equal
DEPENDENT_PIVOT = 1e-10  # a pivot of the rows of a loop, as a part of the diagonal
CLOSED = 1e-12  # of the reach of the mechanism
DAMPED_STEP = 1e-9  # of |A Aᵀ|: the first damping of a step towards a closed position
MEANT = 1e-3  # [rad] or [m]: a guess so near to a position is that position
BEYOND = 1e-9  # [rad] or [m]: nearer to a limit than this is within it
FULL_INERTIA = 1e-10  # an inertia above this part of the largest that a joint carries is never lost
LOST_IN_ROUNDING = 1e-13  # an inertia this small against what the joint carries is lost in rounding
INACCURATE = 1e-6  # an estimated error above this part of the accelerations is reported
SAME_SOLUTION = 1e-8  # x that differ by less are one solution
NO_EFFECT = 1e-11  # a response below this part of the largest counts as zero
SURE = 1.0 - 1e-9  # a spectral radius below proves that there is one solution
TOLERANCE = 1e-12  # of |F|∞ of the scaled problem
STILL = 1e-11  # of the accelerations that the single forces cause: less counts as zero
CROSSED = 0.1  # of the largest of all rates, in the units of (NS3): what STILL is a part of at least
ASKED = 1e-6  # ε: a rate at its level leaves rest where the others do not hold this part of it in its place
HIDDEN = (
    1e-4,
    1e-2,
)  # larger ε: along a chain rounding of the others hides it, and without rows a rate must leave
PUSHED = (1e-9, 1e-6)  # of the largest force: what begins to move is seen by a push of this size
PARKED = 1e-9  # of its level: a joint that has reached it stays at rest where the others can hold this part of it, too
NO_RESPONSE = 1e-14  # D_jj below this part of the largest is zero
SELECTED = 1e-6  # the proximal term of slopes, against the unit diagonal of D
EDGE = 1e-8  # of the scaled problem: nearer to another phase than this is at the boundary
