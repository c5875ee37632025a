"""What the samples of a loop are: states and watched numbers, by name."""

from __future__ import annotations

import numpy as np

from kinpair.forces.states import ports_of
from kinpair.model.model import Model
from kinpair.simulation.contact.between import KEPT, SUMS
from kinpair.simulation.contact.step import LEDGER, POINTS
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.held import NEAR, Residual, Singular


def samples_of(d: Dynamics, Y: np.ndarray, W: np.ndarray) -> dict[str, np.ndarray]:
    """q, qd, tau (..., n, k), energies, work and loss (..., n); Y (..., n, ny), W (..., n, nw)."""
    state, watched = d.layout, d.watched_layout
    vectors = {"q": Y[..., state.q], "qd": Y[..., state.qd], "tau": W[..., watched.tau]}
    vectors |= {"x": Y[..., state.x], "account": Y[..., state.account]}
    vectors |= {"slid": Y[..., state.way], "phase": Y[..., state.phase]}
    vectors["touching"] = Y[..., state.contact] if d.touching is None else _by_events(d, Y, W)
    vectors["u"] = W[..., watched.u] if d.actuated else driving(d.model, vectors["tau"])
    scalars = {
        "kinetic": W[..., watched.kinetic],
        "potential": W[..., watched.potential],
        "work": Y[..., state.work],
        "loss": Y[..., state.loss],
    }
    return vectors | {name: x[..., 0] for name, x in scalars.items()}


def _by_events(d: Dynamics, Y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the numbers of contact (..., n, k) that events found: losses, number of points, forces by slot."""
    forces = W[..., d.watched_layout.contact]
    numbers = np.zeros((*Y.shape[:-1], LEDGER + forces.shape[-1]))
    numbers[..., :SUMS] = Y[..., d.layout.contact][..., :SUMS]
    numbers[..., POINTS] = (forces[..., ::KEPT] > 0.0).sum(axis=-1)
    numbers[..., LEDGER:] = forces
    return numbers


def driving(model: Model, tau: np.ndarray) -> np.ndarray:
    """Efforts of the joints that have an input, of all efforts (..., nv)."""
    names = ports_of(model).u_names
    return tau if names == model.v_names else tau[..., [model.v_names.index(name) for name in names]]


def residual_of(d: Dynamics, W: np.ndarray) -> Residual | None:
    """How far the samples are from obeying the constraints; None where there are none."""
    if d.enforcement is None or not d.enforcement.request.kept:
        return None
    first = d.watched_layout.residual.start
    return Residual(W[..., first], W[..., first + 1])


def singular_of(d: Dynamics, Y: np.ndarray) -> Singular | None:
    """Where the constraints were nearest to dependence, if they came near to it."""
    if not d.traced or not Y.shape[-2]:
        return None
    trace = Y[..., d.layout.trace].reshape(-1, 2)
    if not np.fmax.reduce(trace[:, 0]) > 1.0 / NEAR:
        return None
    over, time = trace[np.argmax(np.nan_to_num(trace[:, 0]))]
    return Singular(float(1.0 / over), float(time))
