"""Explicit Runge–Kutta methods; a row here is all that a method needs.

RK4       Kutta 1901.
DOPRI5    Dormand & Prince 1980, dense output of Shampine 1986; step control of Hairer, Nørsett & Wanner 1993, II.4.
DOP853    Hairer, Nørsett & Wanner 1993, II.5 and II.6: order 8, errors of orders 5 and 3, dense output of order 7.
"""

from __future__ import annotations

from kinpair.compiler.time_loop.tableau import Tableau
from kinpair.simulation.methods import dop853_coefficients as eight

RK4 = Tableau(
    "rk4",
    order=4,
    c=(0, 1 / 2, 1 / 2, 1),
    a=((), (1 / 2,), (0, 1 / 2), (0, 0, 1)),
    b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
)
DOPRI5 = Tableau(
    "dopri5",
    order=5,
    c=(0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1),
    a=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    b=(35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    errors=((71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),),
    dense=(
        (
            -12715105075 / 11282082432,
            0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ),
    ),
    exponents=(1 / 5 - 0.03, 0.04),
)
DOP853 = Tableau(
    "dop853",
    order=8,
    c=eight.C,
    a=eight.A,
    b=eight.B,
    errors=(eight.E5, eight.E3),
    dense=eight.D,
    more_c=eight.MORE_C,
    more_a=eight.MORE_A,
    exponents=(1 / 8 - 0.015, 0.02),
)
TABLEAUX = {tableau.name: tableau for tableau in (RK4, DOPRI5, DOP853)}
