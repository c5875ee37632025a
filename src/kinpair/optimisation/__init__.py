"""Optimal motion: from a goal to the motion of least cost that reaches it.

nonlinear_program     recorded functions at many points as kernels, and a sparse program made of them
ipopt                 IPOPT through its C interface, and as CasADi calls it
equations             what moves at one point of a motion; `kp.dynamics`
mechanism_equations   equations of a Mechanism or System
schemes               collocation schemes as data; intervals that are integrated, with exact derivatives
transcription         phases on meshes as a nonlinear program
accuracy              errors by simulation, and finer meshes
optimum               the result: a motion, its cost, active limits, pictures
guesses               where the iteration begins
requirements          ends, limits, costs and constraints, checked
stages                phases and their links; `kp.phase`
gaits                 feet that stand, and a synthesised gait as a problem of two phases
optimise              `kp.optimise`
trade_off             motions of least cost over durations

A module imports only what stands above it; a test checks it.
"""

from kinpair.optimisation.gaits import standing
from kinpair.optimisation.optimum import ActiveLimit, Optimum
from kinpair.optimisation.trade_off import TradeOff, trade_off

__all__ = ["ActiveLimit", "Optimum", "TradeOff", "standing", "trade_off"]
