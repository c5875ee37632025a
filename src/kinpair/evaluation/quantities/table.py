"""The table of all quantities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kinpair.evaluation.quantities.derivatives import (
    acceleration_derivatives,
    derivatives_at_efforts,
    effort_derivatives,
)
from kinpair.evaluation.quantities.dynamics import (
    actuation,
    bias_forces,
    coriolis_matrix,
    energies,
    energy,
    forward_dynamics,
    forward_dynamics_closer,
    forward_dynamics_near,
    gravity_forces,
    inverse_dynamics,
    mass_product,
    mass_solution,
    matrix,
)
from kinpair.evaluation.quantities.frames import (
    jacobian,
    jacobian_rate,
    pose,
    pose_rows,
    poses,
    twist_rates,
    twists,
)
from kinpair.evaluation.quantities.friction import load_terms
from kinpair.evaluation.quantities.regressor import regressor
from kinpair.evaluation.quantities.request import Request
from kinpair.evaluation.quantities.wrenches import reactions, resultant, wrenches
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.results import AccelerationDerivatives, Actuation, EffortDerivatives, Energy, FramePose

DOUBTFUL = 1e-12  # a solve for accelerations less sound than this is looked at closely


def _of_model(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, request, *state: f(model, *state)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Arguments of a quantity: which state it takes, its function, whether wrenches may be applied, and whether the
    function takes the columns of a whole batch at once; whether it can be part of a function that is recorded.

    line: its result is (what is handed out, ..., what is judged), and states with a judged number that is not above
    the line are looked at closely. shape: the named tuple in which a method hands out what is a tuple here.
    """

    state: tuple[str, ...]
    compute: Callable[..., Any]
    loaded: bool = False
    columns: bool = True
    recorded: bool = True
    line: float | None = None
    shape: Callable[..., Any] | None = None


def timed(quantity: Quantity) -> Quantity:
    """The quantity of a mechanism whose friction depends on time: its last argument of the state is the time (1,)."""
    if "time" in quantity.state or not (quantity.loaded or quantity.compute is regressor):
        return quantity
    n = len(quantity.state)

    def at_time(model: Model, request: Request, *arguments: Any) -> Any:
        moment = replace(model, time=arguments[n][0])
        return quantity.compute(moment, request, *arguments[:n], *arguments[n + 1 :])

    return replace(quantity, state=(*quantity.state, "time"), compute=at_time)


QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(("q", "qd", "qdd"), inverse_dynamics, loaded=True),
    "forward_dynamics": Quantity(("q", "qd", "tau"), forward_dynamics, loaded=True, line=DOUBTFUL),
    "mass_matrix": Quantity(("q",), matrix),
    "coriolis_matrix": Quantity(("q", "qd"), coriolis_matrix),
    "bias_forces": Quantity(("q", "qd"), bias_forces, loaded=True),
    "gravity_forces": Quantity(("q",), gravity_forces),
    "reactions": Quantity(("q", "qd", "qdd"), reactions, loaded=True),
    "resultant": Quantity(("q", "qd", "qdd"), resultant, loaded=True),
    "regressor": Quantity(("q", "qd", "qdd"), regressor),
    "inverse_dynamics_derivatives": Quantity(
        ("q", "qd", "qdd"), effort_derivatives, loaded=True, recorded=False, shape=EffortDerivatives
    ),
    "forward_dynamics_derivatives": Quantity(
        ("q", "qd", "qdd"), acceleration_derivatives, loaded=True, recorded=False
    ),
    "energy": Quantity(("q", "qd"), energy),
    "pose": Quantity(("q",), pose, shape=FramePose),
    "poses": Quantity(("q",), poses),
    "jacobian": Quantity(("q",), jacobian),
    "jacobian_rate": Quantity(("q", "qd"), jacobian_rate),
    "twists": Quantity(("q", "qd"), twists),
    "twist_rates": Quantity(("q", "qd", "qdd"), twist_rates),
    "centre_of_mass": Quantity(("q",), _of_model(kinematics.centre_of_mass)),
    "momentum": Quantity(("q", "qd"), _of_model(kinematics.momentum)),
    "dq_dt": Quantity(("q", "qd"), _of_model(kinematics.dq_dt)),
    "actuation": Quantity(("q", "qd", "x", "u", "time"), actuation, shape=Actuation),
}
OF_TREES: dict[str, Quantity] = {  # what methods of a mechanism without constraints ask for by another name
    "derivatives_at_efforts": Quantity(
        ("q", "qd", "tau"),
        derivatives_at_efforts,
        loaded=True,
        recorded=False,
        line=DOUBTFUL,
        shape=AccelerationDerivatives,
    ),
    "energies": Quantity(("q", "qd"), energies, shape=Energy),
    "mass_product": Quantity(("q", "qdd"), mass_product),
    "mass_solution": Quantity(("q", "tau"), mass_solution),
    "pose_rows": Quantity(("q",), pose_rows),
    "wrenches": Quantity(("q", "qd", "qdd"), wrenches, loaded=True),
    "load_terms": Quantity(("q", "qd", "tau"), load_terms, loaded=True),
    "forward_dynamics_closer": Quantity(("q", "qd", "tau"), forward_dynamics_closer, loaded=True),
    "forward_dynamics_near": Quantity(("q", "qd", "tau", "near"), forward_dynamics_near, loaded=True),
}
OF_SURFACES = ("forward_dynamics_near",)  # kernels of trees with friction from load
