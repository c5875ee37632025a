"""Linear-quadratic regulators about a state or along a motion: `kp.regulator.lqr`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.linearise import linearise
from kinpair.analysis.linear.partials import check_slides
from kinpair.analysis.linear.point import has_ports
from kinpair.constraints.assembly.actuated import ALL, Actuators
from kinpair.constraints.assembly.movable import names_from
from kinpair.control import riccati
from kinpair.control.laws import StateFeedback
from kinpair.control.nominal import SAMPLES, Drive, Nominal, actuated_names, nominal_of, trajectory_of
from kinpair.control.regulator import Table, of_lines, period_of, standing
from kinpair.control.riccati import check_reached, check_states, part_call, weight
from kinpair.errors import InputError, RegulatorWarning, caller_level, expect, listed
from kinpair.forces.states import has_actuators
from kinpair.mechanism import Mechanism
from kinpair.motion.trajectory import Trajectory


class Design(NamedTuple):
    """Design of a linear-quadratic regulator: the linear model, gains K and S of (RG1), (RG2) or (RG4),
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
    """Facts about a mechanism that a design knows: its inputs, and whether springs, dampers and friction are part of
    the nominal efforts and of the gains."""

    inputs: Sequence[str] | None
    efforts: bool
    gains: bool


@dataclass(frozen=True, eq=False, repr=False)
class LinearQuadratic(StateFeedback):
    """State feedback that minimises ∫ e^{2πt} (xᵀ Q x + uᵀ R u) dt for small deviations x.

    `design`: the linear model, S of Riccati's equation and its residual.
    """

    design: Any = None

    @property
    def K(self) -> np.ndarray:
        """Gains (inputs, states), along a motion (knots, inputs, states), in units of input by state: u = u⁰ − K x."""
        return self.design.K

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of the closed loop (states,), along a motion (knots, states) [1/s]; with a sample time those
        from sample to sample, without unit."""
        return np.linalg.eigvals(self.design.closed.A)

    @property
    def loop(self) -> LinearModel:
        """The loop cut at the inputs: outputs "feedback.NAME" are K x. `loop.margins()` has the margins of one input,
        all other loops open."""
        model = self.design.model
        outputs = tuple(f"feedback.{x.partition('.')[2]}" for x in model.inputs)
        D = np.zeros((*self.K.shape[:-1], len(model.inputs)))
        F = np.zeros((*self.K.shape[:-1], len(model.disturbances)))
        return replace(model, C=self.K, D=D, F=F, outputs=outputs)

    def _words(self) -> str:
        model: LinearModel = self.design.model
        slowest = np.real(self.poles).max() if model.dt is None else np.abs(self.poles).max()
        what = f"slowest pole {slowest:.4g} 1/s" if model.dt is None else f"largest pole {slowest:.4g}"
        knots = f", {len(model)} knots" if model.along else ""
        return f"{len(model.states)} states, {len(model.inputs)} inputs{knots}, {what}"


def lqr(
    what: Mechanism | LinearModel,
    motion: Any = None,
    *,
    Q: Any = 1.0,
    R: Any = 1.0,
    degree: float = 0.0,
    sample_time: float | None = None,
    inputs: Actuators = None,
    samples: int = SAMPLES,
    passive: bool | str = True,
) -> LinearQuadratic:
    """A linear-quadratic regulator with a prescribed degree of stability, about a state or along a motion.

    * `what`: a mechanism, with the `motion` it is kept to: a trajectory, coordinates (nq,) or by name to stand at,
      or an `Equilibrium`; or a `LinearModel` about a state, or along a motion with its times. A model of a vehicle
      has displacements that no input holds: `model.part([...])` leaves them out and keeps the speeds;
    * `Q`, `R`: weights of states and inputs: a number, one for each, by name (others one), or a matrix, along a motion
      one for all its times or one for each;
    * `degree` π [1/s]: all deviations die away at least as fast as exp(−π t);
    * `sample_time` [s]: gains for efforts that stay constant between samples;
    * `inputs`: rates whose efforts it uses, by default all of a tree and the actuated ones of a closed mechanism;
      `samples`: knots of gains and of the motion along it;
    * `passive`: False leaves springs, dampers and friction out; "efforts" leaves them out of the gains only, as dry
      friction at rest, which has no derivative, calls for.

    SingularError names a mode that no input reaches, and the call that leaves it out. RegulatorWarning: the model
    leaves out a speed that the inputs move, and the mechanism may drift.
    """
    expect("lqr", what, Mechanism, LinearModel)
    owner, degree = what.name, _degree(what.name, degree)
    motion = trajectory_of(motion)
    if inputs not in (None, ALL):
        inputs = names_from("inputs", inputs)
    if isinstance(what, Mechanism) and inputs in (None, ALL) and not has_actuators(what.model):
        inputs = actuated_names(what, inputs, motion, "lqr")
    if passive not in (True, False, "efforts"):
        raise InputError(
            f"{owner}: passive is {passive!r}; it is True, False or 'efforts'", argument="passive"
        )
    parts = Parts(inputs, bool(passive), passive is True)
    period = period_of(owner, sample_time)
    if isinstance(what, LinearModel):
        if motion is not None:
            raise InputError(
                f"{owner}: a linear model has its own state or motion; leave out motion, or give the mechanism",
                argument="motion",
            )
        check_states(what)
        nominal, model = _about(what, period), what if inputs is None else what.with_inputs(inputs)
        _warn_of_drift(model)
        made = _about_state if nominal.stands else _along
        return made(model, nominal, Q, R, degree, period)
    if isinstance(motion, Trajectory):
        return _along(*_linear(what, motion, period, parts, samples), Q, R, degree, period)
    nominal = nominal_of(what, motion, Drive(inputs, bool(passive)))
    state = nominal.q[0], nominal.qd[0]
    model = linearise(what, *state, u=nominal.tau[0], inputs=inputs, axes={}, passive=passive is True)
    check_slides(what, model)
    return _about_state(model, nominal, Q, R, degree, period)


def _warn_of_drift(model: LinearModel) -> None:
    """Warn where the core of a model leaves out speeds that the inputs move."""
    free = [name for name, row in model.left_out.items() if np.any(row)]
    if not free:
        return
    kinds = [[x for x in (*model.states, *free) if x.startswith(kind)] for kind in ("q.", "qd.", "x.")]
    warnings.warn(
        f"{model.name}: the model leaves out {listed(free, 4)}, which the inputs move: nothing holds these speeds, and "
        f"the mechanism may drive away. Take the model before .core and keep the speeds: "
        f"{part_call([x for kind in kinds for x in kind])}",
        RegulatorWarning,
        stacklevel=caller_level(),
    )


def _degree(owner: str, given: Any) -> float:
    if not (isinstance(given, int | float) and 0.0 <= given < np.inf):
        raise InputError(
            f"{owner}: degree is {given!r}; give a number [1/s], not below zero", argument="degree"
        )
    return float(given)


def _about(model: LinearModel, period: float | None) -> Nominal:
    """Motion of a linear model: a motion, or a state as a motion that stands."""
    if not isinstance(model.mechanism, Mechanism):
        raise InputError(f"{model.name}: is given by its energy; regulators are for mechanisms")
    if model.dt is not None or model.at.axes:
        what = "from sample to sample" if model.dt is not None else "in axes that turn"
        raise InputError(
            f"{model.name}: the linear model is {what}; give one about a state, or the mechanism and its motion"
        )
    at = model.at
    states = {"q": at.q, "qd": at.qd, "qdd": at.qdd, "tau": at.u if has_ports(model.mechanism) else at.tau}
    if model.along:
        return Nominal.of_samples(model.mechanism, _times(model, period), states)
    return Nominal.of_state(model.mechanism, states)


def _times(model: LinearModel, period: float | None) -> np.ndarray:
    times = np.asarray(model.at.time, dtype=float)
    if times.ndim != 1 or not (np.diff(times) > 0.0).all():
        raise InputError(
            f"{model.name}: the linear model is along a motion without times; give linearise the time= of each state"
        )
    if period is not None and not np.allclose(np.diff(times), period, rtol=1e-9):
        raise InputError(
            f"{model.name}: sample_time is {period:g} s, and the states of the linear model are not that far apart; "
            "linearise at every sample"
        )
    return times


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


def _linear(
    m: Mechanism, motion: Trajectory, period: float | None, parts: Parts, samples: int
) -> tuple[LinearModel, Nominal]:
    """The linear model along a motion, and the motion at its knots."""
    count = samples if period is None else int(np.ceil(motion.duration / period)) + 1
    times = np.linspace(0.0, motion.duration, samples) if period is None else period * np.arange(count)
    nominal = nominal_of(m, motion, Drive(parts.inputs, parts.efforts), times)
    options: dict[str, Any] = {"inputs": parts.inputs, "axes": {}, "passive": parts.gains}
    model = linearise(m, nominal.q, nominal.qd, u=nominal.tau, time=_moments(m, times), **options)
    check_slides(m, model)
    return model, nominal


def _along(
    model: LinearModel, nominal: Nominal, Q: Any, R: Any, degree: float, period: float | None
) -> LinearQuadratic:
    """(RG2), or (RG4) at every sample; it ends with the gains for rest at the end of the motion."""
    weights = weight(model, "Q", Q, model.states), weight(model, "R", R, model.inputs)
    last, (Q_end, R_end) = model[len(model) - 1], (x[-1] if x.ndim == 3 else x for x in weights)
    check_reached(last, degree)
    if period is None:
        _, end, left = riccati.continuous(last.A, last.B, Q_end, R_end, degree)
        K, S = riccati.along(nominal.times, model.A, model.B, *weights, degree, end)
        return _regulator(model, nominal, K, Design(model, K, S, degree, left), None)
    own, growth = model.discrete(period), float(np.exp(degree * period))
    _, end, left = riccati.sampled(own.A[-1], own.B[-1], Q_end, R_end, growth)
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
    over = {"K": K, "x": np.broadcast_to(model.at.x, (len(nominal.times), m.nx))}
    gains = standing({"K": K[0], "x": over["x"][0]}) if nominal.stands else of_lines(nominal.times, over)
    course = nominal.course.only("q", "qd", "tau").joined(gains)
    table = Table.along(course, {})
    parts = {"coordinates": model.at.coordinates, "rates": model.at.rates, "inputs": numbers}
    return LinearQuadratic(
        m.model, table, sample_time=period, design=design, internal=internal, size=len(known), **parts
    )
