"""From a mechanism and a motion to a regulator: `kp.regulator`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.linearise import linearise
from kinpair.analysis.linear.point import check_no_ports, has_ports
from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.model.entries import filled, words_of
from kinpair.motion.trajectory import Trajectory
from kinpair.regulators import riccati
from kinpair.regulators.laws import ComputedTorque, ForceFeedback, JointLaw, PreviewLaw, StateFeedback
from kinpair.regulators.nominal import SAMPLES, Nominal, nominal_of
from kinpair.regulators.preview import PreviewGains, preview_gains
from kinpair.regulators.reach import check_reached
from kinpair.regulators.regulator import period_of
from kinpair.regulators.table import Table

FEED_FORWARD = ("inverse", "gravity", "none")


class Design(NamedTuple):
    """What a linear-quadratic regulator was made from: the linear model, gains K and S of (RG1), (RG2) or (RG4),
    along a motion with an axis of knots in front, and how well the algebraic equation is solved."""

    model: LinearModel
    K: np.ndarray
    S: np.ndarray
    degree: float
    residual: float

    @property
    def closed(self) -> LinearModel:
        """The linear model with the loop closed."""
        return replace(self.model, A=self.model.A - self.model.B @ self.K)


class Parts(NamedTuple):
    """What of a mechanism a design knows: its inputs, and whether springs, dampers and friction are part of the nominal
    efforts and of the gains."""

    inputs: Sequence[str] | None
    efforts: bool
    gains: bool


@dataclass(frozen=True, eq=False)
class LinearQuadratic(StateFeedback):
    """State feedback that minimises ∫ e^{2πt} (xᵀ Q x + uᵀ R u) dt for small deviations x."""

    design: Any = None


def lqr(
    what: Mechanism | LinearModel,
    motion: Any = None,
    *,
    Q: Any = 1.0,
    R: Any = 1.0,
    degree: float = 0.0,
    sample_time: float | None = None,
    inputs: Sequence[str] | None = None,
    samples: int = SAMPLES,
    passive: bool | str = True,
) -> LinearQuadratic:
    """A linear-quadratic regulator with a prescribed degree of stability, about a state or along a motion.

    * `what`: a mechanism, with the `motion` it is kept to: a trajectory, coordinates (nq,) or by name to stand at,
      or an `Equilibrium`; or a `LinearModel` about a state, of which `model.core` leaves out what is ignorable;
    * `Q`, `R`: weights of states and inputs: a number, one for each, by name (others one), or a matrix;
    * `degree` π [1/s]: all deviations die away at least as fast as exp(−π t);
    * `sample_time` [s]: gains for efforts that are held between samples;
    * `inputs`: rates whose efforts it uses, all by default; `samples`: knots of gains and of the motion along it;
    * `passive`: False leaves springs, dampers and friction out; "efforts" leaves them out of the gains only, as dry
      friction at rest, which has no derivative, calls for.

    SingularError names a mode that no input reaches.
    """
    owner, degree = what.name, _degree(what.name, degree)
    if passive not in (True, False, "efforts"):
        raise InputError(
            f"{owner}: passive is {passive!r}; it is True, False or 'efforts'", argument="passive"
        )
    parts = Parts(inputs, bool(passive), passive is True)
    period = period_of(owner, sample_time)
    if isinstance(what, LinearModel):
        nominal = _about(what)
        return _about_state(
            what if inputs is None else what.with_inputs(inputs), nominal, Q, R, degree, period
        )
    if isinstance(motion, Trajectory):
        return _along(what, motion, (Q, R), degree, period, parts, samples)
    nominal = nominal_of(what, motion, inputs, passive=bool(passive))
    state = nominal.q[0], nominal.qd[0]
    model = linearise(what, *state, u=nominal.tau[0], inputs=inputs, axes={}, passive=passive is True)
    return _about_state(model, nominal, Q, R, degree, period)


def _degree(owner: str, given: Any) -> float:
    if not (isinstance(given, int | float) and 0.0 <= given < np.inf):
        raise InputError(
            f"{owner}: degree is {given!r}; give a number [1/s], not below zero", argument="degree"
        )
    return float(given)


def _about(model: LinearModel) -> Nominal:
    """The state of a linear model as a motion that stands."""
    if not isinstance(model.mechanism, Mechanism):
        raise InputError(f"{model.name}: is given by its energy; regulators are for mechanisms")
    if model.along or model.dt is not None or model.at.axes:
        what = (
            "along a motion"
            if model.along
            else "from sample to sample"
            if model.dt is not None
            else "in axes that turn"
        )
        raise InputError(
            f"{model.name}: the linear model is {what}; give one about a state, or the mechanism and its motion"
        )
    inputs = model.at.u if has_ports(model.mechanism) else model.at.tau
    twice = [np.stack([x, x]) for x in (model.at.q, model.at.qd, np.zeros(model.mechanism.nv), inputs)]
    return Nominal(model.mechanism, np.array([0.0, 1.0]), *twice, stands=True)


def _about_state(
    model: LinearModel, nominal: Nominal, Q: Any, R: Any, degree: float, period: float | None
) -> LinearQuadratic:
    own = model if period is None else model.discrete(period)
    check_reached(own, degree)
    weights = weight(model, "Q", Q, model.states), weight(model, "R", R, model.inputs)
    if period is None:
        K, S, left = riccati.continuous(own.A, own.B, *weights, degree)
    else:
        K, S, left = riccati.sampled(own.A, own.B, *weights, float(np.exp(degree * period)))
    return _regulator(own, nominal, np.stack([K, K]), Design(own, K, S, degree, left), period)


def _along(
    m: Mechanism,
    motion: Trajectory,
    given: tuple[Any, Any],
    degree: float,
    period: float | None,
    parts: Parts,
    samples: int,
) -> LinearQuadratic:
    """(RG2), or (RG4) at every sample; it ends with the gains for standing at the end of the motion."""
    count = samples if period is None else int(np.ceil(motion.duration / period)) + 1
    times = np.linspace(0.0, motion.duration, samples) if period is None else period * np.arange(count)
    nominal = nominal_of(m, motion, parts.inputs, times, passive=parts.efforts)
    options: dict[str, Any] = {"inputs": parts.inputs, "axes": {}, "passive": parts.gains}
    model = linearise(m, nominal.q, nominal.qd, u=nominal.tau, time=_moments(m, times), **options)
    weights = weight(model, "Q", given[0], model.states), weight(model, "R", given[1], model.inputs)
    last = model[len(model) - 1]
    check_reached(last, degree)
    if period is None:
        _, end, left = riccati.continuous(last.A, last.B, *weights, degree)
        K, S = riccati.along(times, model.A, model.B, *weights, degree, end)
        return _regulator(model, nominal, K, Design(model, K, S, degree, left), None)
    own, growth = model.discrete(period), float(np.exp(degree * period))
    _, end, left = riccati.sampled(own.A[-1], own.B[-1], *weights, growth)
    K, S = riccati.along_samples(own.A, own.B, *weights, growth, end)
    return _regulator(own, nominal, K, Design(own, K, S, degree, left), period)


def _moments(m: Mechanism, times: np.ndarray) -> Any:
    """Times, where constraints may depend on them."""
    return times if m.closure is not None else 0.0


def _regulator(
    model: LinearModel, nominal: Nominal, K: np.ndarray, design: Design, period: float | None
) -> LinearQuadratic:
    m = nominal.mechanism
    known = m.u_names if has_ports(m) else m.v_names
    numbers = tuple(known.index(name.partition(".")[2]) for name in model.inputs)
    internal = tuple(m.x_names.index(x[2:]) for x in model.states if x.startswith("x."))
    table = Table.of(
        nominal.times,
        {"K": K, "q": nominal.q, "qd": nominal.qd, "u": nominal.tau[:, list(numbers)]},
        {"x": model.at.x},
    )
    parts = {"coordinates": model.at.coordinates, "rates": model.at.rates, "inputs": numbers}
    return LinearQuadratic(
        m.model, table, sample_time=period, design=design, internal=internal, size=len(known), **parts
    )


def weight(model: LinearModel, what: str, given: Any, names: Sequence[str]) -> np.ndarray:
    """A symmetric matrix of weights."""
    n = len(names)
    if isinstance(given, Mapping):
        diagonal = np.ones(n)
        for name, value in given.items():
            entry = name if name in names else f"tau.{name}"
            diagonal[
                model.index("states" if what == "Q" else "inputs", entry if entry in names else name)
            ] = float(value)
        given = diagonal
    try:
        x = np.asarray(given, dtype=float)
        found = np.diag(np.broadcast_to(x, (n,))) if x.ndim < 2 else x
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    least = np.linalg.eigvalsh(found).min() if found.shape == (n, n) and np.isfinite(found).all() else np.nan
    if not (least >= 0.0 if what == "Q" else least > 0.0) or not np.allclose(found, found.T):
        wanted = "not negative" if what == "Q" else "positive"
        raise InputError(
            f"{model.name}: {what} must be a number, {n} of them, some by name, or a symmetric matrix ({n}, {n}), "
            f"{wanted}",
            argument=what,
        )
    return found


# Regulators of each joint for itself, and those that know the equations of motion.


def pd(
    mechanism: Mechanism,
    motion: Any = None,
    *,
    kp: Any = None,
    kd: Any = None,
    ki: Any = 0.0,
    frequency: float | None = None,
    damping: float = 1.0,
    feed_forward: str = "inverse",
    limit: Any = None,
    sample_time: float | None = None,
    samples: int = SAMPLES,
) -> JointLaw:
    """Each joint for itself, by proportion, derivative and, with `ki`, integral: (RG7).

    * `kp`, `kd`, `ki`: a number, (nv,), or by name; or from `frequency` [rad/s] and `damping`, for the inertia that
      each joint has at the start of the motion, with which `ki` [1/s³] is then multiplied, too;
    * `feed_forward`: "inverse" adds the efforts of the motion, "gravity" those that hold its places, "none" nothing;
    * `limit`: of efforts, beyond which nothing is integrated, by default those of the description.
    """
    m = mechanism
    nominal = _sampled_motion(m, motion, samples)
    gains = _gains(m, nominal, kp, kd, frequency, damping, inertia=True)
    if feed_forward not in FEED_FORWARD:
        raise InputError(
            f"{m.name}: feed_forward is {feed_forward!r}; it is one of {', '.join(FEED_FORWARD)}",
            argument="feed_forward",
        )
    tau = {"inverse": nominal.tau, "none": 0.0 * nominal.tau}.get(feed_forward)
    if tau is None:
        still = np.zeros(nominal.qd.shape)
        tau = (
            m.inverse_dynamics(nominal.q, still, still)
            if m.closure is not None
            else m.gravity_forces(nominal.q)
        )
    integral = _rates(m, "ki", ki) * (1.0 if frequency is None else _inertias(m, nominal))
    most = m.model.joints.effort if limit is None else _rates(m, "limit", limit)
    constants = {**gains, "ki": integral, "limit": np.minimum(most, np.finfo(float).max)}
    table = Table.of(nominal.times, {"q": nominal.q, "qd": nominal.qd, "tau": tau}, constants)
    period = period_of(m.name, sample_time)
    has = bool(integral.any())
    return JointLaw(m.model, table, integral=has, sample_time=1e-3 if has and period is None else period)


def computed_torque(
    mechanism: Mechanism,
    motion: Any = None,
    *,
    frequency: float | None = None,
    damping: float = 1.0,
    kp: Any = None,
    kd: Any = None,
    sample_time: float | None = None,
    samples: int = SAMPLES,
) -> ComputedTorque:
    """Inverse dynamics of the acceleration that would take the deviation away: (RG8).

    Every joint then moves as ë + k_d ė + k_p e = 0; gains in 1/s² and 1/s, or from `frequency` [rad/s] and `damping`.
    """
    m = mechanism
    if m.closure is not None:
        raise InputError(
            f"{m.name}: computed torque is for mechanisms without constraints; lqr and pd take any",
            argument="mechanism",
        )
    nominal = _sampled_motion(m, motion, samples)
    gains = _gains(m, nominal, kp, kd, frequency, damping, inertia=False)
    table = Table.of(nominal.times, {"q": nominal.q, "qd": nominal.qd, "qdd": nominal.qdd}, gains)
    return ComputedTorque(m.model, table, sample_time=period_of(m.name, sample_time))


def force_feedback(
    mechanism: Mechanism,
    motion: Any = None,
    *,
    frequency: float | None = None,
    damping: float = 1.0,
    kp: Any = None,
    kd: Any = None,
    gain: Any = 1.0,
    inertia: Any = None,
    sample_time: float = 1e-3,
    samples: int = SAMPLES,
) -> ForceFeedback:
    """Each joint for itself as if it moved a constant inertia, and the load that a sensor feels behind it: (RG9).

    `gain`: which part of the load is fed back. `inertia` J of each joint: the load is that of the sample before, and
    the loop is stable from sample to sample while the eigenvalues of J H⁻¹ are below 2; by default J is that which a
    joint moves while the others are free, made smaller until they are not above 1 along the motion.
    """
    m = mechanism
    nominal = _sampled_motion(m, motion, samples)
    gains = _gains(m, nominal, kp, kd, frequency, damping, inertia=False)
    own = _light_inertias(m, nominal) if inertia is None else _rates(m, "inertia", inertia)
    constants = {**gains, "inertia": own, "gain": _rates(m, "gain", gain)}
    table = Table.of(nominal.times, {"q": nominal.q, "qd": nominal.qd, "qdd": nominal.qdd}, constants)
    period = period_of(m.name, sample_time)
    return ForceFeedback(m.model, table, sample_time=1e-3 if period is None else period)


def preview(
    model: LinearModel, reference: Trajectory, *, steps: int, Q: Any = 1.0, R: Any = 1e-6
) -> tuple[PreviewLaw, PreviewGains]:
    """A regulator by which the outputs of a mechanism follow a reference that is known `steps` samples ahead: (PC1).

    `model`: about a state, with the outputs that are to follow (`outputs=`) and a sample time, `model.discrete(T)`;
    `reference`: a trajectory of changes of these outputs. Beside it come its gains.
    """
    if model.along or model.dt is None or model.at.axes or not isinstance(model.mechanism, Mechanism):
        raise InputError(
            f"{model.name}: preview needs the linear model of a mechanism about a state, from sample to sample; "
            "take linearise(...).discrete(sample_time)"
        )
    check_no_ports("preview", model.mechanism)
    gains = preview_gains(model, steps=steps, Q=Q, R=R)
    p, m = len(model.C), model.mechanism
    if np.prod(reference.shape, dtype=int) != p:
        raise InputError(f"{m.name}: the reference has shape {reference.shape}, and the model {p} outputs")
    count = int(np.ceil(reference.duration / model.dt)) + steps + 1
    times = model.dt * np.arange(count)
    r = np.reshape(np.asarray(reference.at(times).q, dtype=float), (count, p))
    numbers = tuple(m.v_names.index(name.removeprefix("tau.")) for name in model.inputs)
    table = Table.of(
        times,
        {"reference": r, "ahead": gains.ahead(r)},
        {
            "G_i": gains.G_i,
            "G_x": gains.G_x,
            "C": model.C,
            "q": model.at.q,
            "qd": model.at.qd,
            "u": model.at.tau[list(numbers)],
        },
    )
    parts = {"coordinates": model.at.coordinates, "rates": model.at.rates, "inputs": numbers}
    return PreviewLaw(m.model, table, outputs=p, sample_time=model.dt, **parts), gains


def _sampled_motion(m: Mechanism, motion: Any, samples: int) -> Nominal:
    if not isinstance(m, Mechanism):  # type: ignore[redundant-expr]
        raise InputError(f"a regulator is for a Mechanism, not {m!r}; load() takes files, example() names")
    return nominal_of(m, motion, None, samples=samples)


def _gains(
    m: Mechanism,
    nominal: Nominal,
    kp: Any,
    kd: Any,
    frequency: float | None,
    damping: float,
    *,
    inertia: bool,
) -> dict[str, np.ndarray]:
    """k_p and k_d: given, or ω² and 2ζω, times the inertia of each joint if told so."""
    if frequency is not None:
        if kp is not None or kd is not None:
            raise InputError(f"{m.name}: give kp and kd, or frequency and damping, not both")
        if not 0.0 < float(frequency) < np.inf or not 0.0 <= float(damping) < np.inf:
            raise InputError(
                f"{m.name}: frequency is {frequency!r} and damping {damping!r}; give numbers above zero"
            )
        own = _inertias(m, nominal) if inertia else np.ones(m.nv)
        return {"kp": frequency**2 * own, "kd": 2.0 * damping * frequency * own}
    if kp is None or kd is None:
        raise InputError(f"{m.name}: give kp and kd, or frequency [rad/s] and damping")
    return {"kp": _rates(m, "kp", kp), "kd": _rates(m, "kd", kd)}


def _inertias(m: Mechanism, nominal: Nominal) -> np.ndarray:
    """What each joint moves at the start of the motion while the others stand."""
    return np.diag(m.mass_matrix(nominal.q[0])).copy()


def _light_inertias(m: Mechanism, nominal: Nominal) -> np.ndarray:
    """J = s / (H⁻¹)ₖₖ with no eigenvalue of J H⁻¹ above one at any knot."""
    over = np.linalg.inv(m.mass_matrix(nominal.q))
    own = 1.0 / np.diagonal(over, axis1=-2, axis2=-1).max(axis=0)
    root = np.sqrt(own)
    return own / np.linalg.eigvalsh(root[:, None] * over * root).max()


def _rates(m: Mechanism, what: str, given: Any) -> np.ndarray:
    """One number for each rate."""
    if isinstance(given, Mapping):
        return filled(m.model, words_of(what), given, np.zeros(m.nv))[0]
    try:
        found = np.array(np.broadcast_to(np.asarray(given, dtype=float), (m.nv,)))
    except (TypeError, ValueError):
        found = np.full(m.nv, np.nan)
    if np.isnan(found).any():
        raise InputError(
            f"{m.name}: {what} is {given!r}; give a number, {m.nv} of them, or some by name", argument=what
        )
    return found
