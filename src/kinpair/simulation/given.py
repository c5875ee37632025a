"""Arguments of a simulation, checked; `simulate` has the meaning of each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.errors import DescriptionWarning, InputError, listed, nearest
from kinpair.evaluation.arguments import Expected
from kinpair.forces.states import begin_states
from kinpair.mechanism import Mechanism
from kinpair.model.constants import check_constants
from kinpair.model.entries import filled, words_of
from kinpair.model.symbols import check_symbols
from kinpair.simulation.dynamics import with_quaternion
from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limits
from kinpair.simulation.schedule import PATIENCE, check_size, finite, real
from kinpair.simulation.torques import Torque
from kinpair.system import System

DT = 1e-3
RTOL, ATOL = 1e-9, 1e-10
ALPHA = 20.0  # [1/s] of Baumgarte's stabilisation
CHECKPOINT = 0.5  # seconds of work between two of them


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """Options as of `simulate`."""

    q: Any
    qd: Any
    duration: float
    torque: Any = None
    input: Any = None
    x: Any = None
    integrator: str | None = "dop853"  # None: chosen when the run is prepared
    dt: float | None = None
    rtol: float | None = None
    atol: Any = None
    max_step: float | None = None
    output: Any = None
    external: Mapping[str, Any] | None = None
    passive: bool = True
    parameters: Mapping[str, Any] | None = None
    time: float = 0.0
    threads: int = 1
    solver: str | None = None
    hold: str = "project"
    alpha: float = ALPHA
    rho_inf: float | None = None
    theta: float | None = None
    events: Sequence[Event] | Event | None = None
    limits: str | Limits | None = None
    patience: float = PATIENCE

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Select the options among arguments by name."""
        return cls(**{name: arguments[name] for name in NAMES if name in arguments})

    @property
    def named(self) -> dict[str, Any]:
        """Options by name."""
        return {name: getattr(self, name) for name in NAMES}


NAMES = tuple(field.name for field in fields(Options))


@dataclass(frozen=True, slots=True)
class Missing:
    """A function that the file does not hold; `called`: an object of a class of that name."""

    name: str
    called: bool = False
    sample_time: float | None = None

    @property
    def call(self) -> str:
        """Call as one would write it."""
        return f"{self.name}(...)" if self.called else self.name


def movable(mechanism: Any) -> Mechanism:
    """A mechanism, or a system, which has all that is asked of one here."""
    if not isinstance(mechanism, Mechanism | System):
        raise InputError(
            f"simulate takes a Mechanism or a System, not {mechanism!r}; load() takes files, example() names",
            argument="mechanism",
        )
    return cast(Mechanism, mechanism)


def by_name(mechanism: Mechanism, q: Any, qd: Any, torque: Any, time: float) -> dict[str, Any]:
    """The start and constant efforts, those given by name as arrays."""
    at, rates = mechanism.by_name(time, q=q, qd=qd)
    if isinstance(torque, Mapping):
        torque = filled(mechanism.model, words_of("torque"), torque, np.zeros(mechanism.nv))[0]
    return {"q": at, "qd": rates, "torque": torque}


def start_states(mechanism: Mechanism, q: Any, qd: Any) -> np.ndarray:
    """[q, qd] (..., nq + nv), quaternions of unit length."""
    name, model = mechanism.name, mechanism.model
    if not mechanism.nv:
        raise InputError(f"{name}: nothing moves, so there is nothing to simulate")
    x, v = (
        Expected("q", mechanism.q_names).checked(name, q),
        Expected("qd", mechanism.v_names).checked(name, qd),
    )
    if x.ndim == v.ndim == 2 and len(x) != len(v):
        raise InputError(f"{name}: batches differ in length: q has {len(x)}, qd has {len(v)} rows")
    if 0 in (*x.shape, *v.shape):
        raise InputError(f"{name}: the batch has no rows, so there is nothing to simulate")
    states = np.empty((*(x.shape[:-1] or v.shape[:-1]), model.nq + model.nv))
    states[..., : model.nq], states[..., model.nq :] = x, v
    if not np.isfinite(states).all():
        what = "qd" if np.isfinite(x).all() else "q"
        raise InputError(f"{name}: {what} holds NaN or infinity", argument=what)
    if states.ndim == 1:
        check_size(name, "q", mechanism.q_names, states[: model.nq])
        check_size(name, "qd", mechanism.v_names, states[model.nq :])
    x = states[..., : model.nq]
    for i in with_quaternion(model):
        stop = model.q_span[i].stop
        length = np.linalg.norm(x[..., stop - 4 : stop], axis=-1, keepdims=True)
        if not length.all():
            joint = model.joint_names[i]
            raise InputError(
                f"{name}: joint {joint!r} has the quaternion 0 0 0 0 in q, which is not a rotation; "
                "the identity is 0 0 0 1",
                joint=joint,
            )
        x[..., stop - 4 : stop] /= length
    return states


def named_numbers(
    mechanism: Mechanism, what: str, names: Sequence[str], value: Any, start: np.ndarray
) -> Any:
    """The start with the entries that are given by name; anything else as it is."""
    if not isinstance(value, Mapping):
        return value
    numbers = np.array(start, dtype=float)
    for name, number in value.items():
        if name not in names:
            raise InputError(
                f"{mechanism.name}: {what} has no entry {name!r}; {nearest(str(name), names)}Entries: "
                f"{listed(names) or 'none'}",
                entry=name,
            )
        numbers[list(names).index(name)] = finite(mechanism.name, f"{what}: {name}", number)
    return numbers


def start_x(mechanism: Mechanism, x: Any, states: np.ndarray) -> np.ndarray:
    """Internal states (nx,) or (batch, nx) to begin with at [q, qd] (..., nq + nv)."""
    if x is None and mechanism.nx:
        motion = columns(np.atleast_2d(states))
        own = begin_states(mechanism.model, motion[: mechanism.nq], motion[mechanism.nq :])
        return rows(own, len(np.atleast_2d(states))).reshape(*states.shape[:-1], mechanism.nx)
    if x is None:
        return mechanism.x_start
    states = Expected("x", mechanism.x_names).checked(mechanism.name, x)
    if not np.isfinite(states).all():
        raise InputError(f"{mechanism.name}: x holds NaN or infinity", argument="x")
    return states


def parameter_values(
    mechanism: Mechanism, parameters: Mapping[str, Any] | None
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names, and values (np,) or (batch, np)."""
    if parameters is not None and not isinstance(parameters, Mapping):  # type: ignore[redundant-expr]
        raise InputError(
            f"{mechanism.name}: parameters is {parameters!r}; give a dict: name of a constant → number"
        )
    if not parameters:
        return (), np.zeros(0)
    names = tuple(parameters)
    check_symbols(mechanism.model, names)
    columns = [real(x) for x in parameters.values()]
    for name, column in zip(names, columns, strict=True):
        if column.ndim > 1 or not np.isfinite(column).all():
            raise InputError(
                f"{mechanism.name}: parameter {name!r} must be a number, or one for each motion of a batch"
            )
    for sentence in check_constants(mechanism.model, dict(zip(names, columns, strict=True))):
        warnings.warn(sentence, DescriptionWarning, stacklevel=4)
    try:
        return names, np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        counts = ", ".join(f"{n} has {c.size}" for n, c in zip(names, columns, strict=True))
        raise InputError(f"{mechanism.name}: batches of parameters differ in length: {counts}") from None


def in_rows(
    mechanism: Mechanism,
    states: np.ndarray,
    drive: Torque,
    wrenches: dict[str, np.ndarray],
    values: np.ndarray,
    x: np.ndarray,
) -> tuple[np.ndarray, int | None]:
    """The states with the axis of the batch, if anything has one; how many."""
    sizes = {"q and qd": len(states)} if states.ndim == 2 else {}
    sizes |= {drive.word: drive.batch} if drive.batch is not None else {}
    sizes |= {"x": len(x)} if x.ndim == 2 else {}
    sizes |= {f"external[{name!r}]": len(w) for name, w in wrenches.items() if w.ndim == 2}
    sizes |= {"parameters": len(values)} if values.ndim == 2 else {}
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InputError(f"{mechanism.name}: batches differ in length: {lengths} rows", **sizes)
    batch = next(iter(sizes.values()), None)
    if batch is not None and states.ndim == 1:
        states = np.broadcast_to(states, (batch, len(states)))
    return states, batch


def tolerance(name: str, what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    x = real(value)
    if x.shape not in ((), shape) or not (x > 0).all() or not np.isfinite(x).all():
        wanted = "a number above zero" + (f" or {shape[0]} of them" if shape else "")
        raise InputError(f"{name}: {what} is {value!r}; it must be {wanted}", argument=what)
    return x
