"""Optimal motion: from a goal to the motion of least cost that reaches it.

pointwise             a recorded function at many points: values, Jacobian and Hessian as kernels
nonlinear_program     a sparse program made of such functions
ipopt                 IPOPT through its C interface
casadi_solver         IPOPT as CasADi calls it
schemes               collocation schemes as data
equations             what moves at one point of a motion; `kp.dynamics`
mechanism_equations   equations of a Mechanism or System
shooting              intervals that are integrated, with exact derivatives
transcription         phases on meshes as a nonlinear program
accuracy              errors by simulation, and finer meshes
optimum               the result: a motion, its cost, active limits, pictures
guesses               where the iteration begins
feet                  feet that stand: pressure inside the sole, friction cones
requirements          ends, limits, costs and constraints, checked
stages                phases and their links; `kp.phase`
gaits                 a synthesised gait as a problem of two phases
optimise              `kp.optimise`
trade_off             motions of least cost over durations

A module imports only what stands above it; a test checks it.
"""

from kinpair.optimisation.feet import standing
from kinpair.optimisation.optimum import ActiveLimit, Optimum
from kinpair.optimisation.trade_off import TradeOff, trade_off

__all__ = ["ActiveLimit", "Optimum", "TradeOff", "standing", "trade_off"]
