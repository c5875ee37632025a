"""A linear model with names, about one state or along a motion.

The file is long because it is one public class with a method for each question; the other modules answer them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.analysis.linear import bode, pictures, step_response
from kinpair.analysis.linear import step_response as discrete
from kinpair.analysis.linear.bode import (
    Bode,
    Margins,
    TransferFunction,
    frequency_response,
    laplace,
    state_space,
    transfer,
)
from kinpair.analysis.linear.modes import (
    Core,
    Mode,
    Spectrum,
    core_of,
    eigenvalues,
    modes_of,
    spectrum,
    swung,
)
from kinpair.analysis.linear.point import OperatingPoint, is_steady
from kinpair.analysis.linear.step_response import StepResponse, ratio, unit_of
from kinpair.errors import InputError, listed, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from kinpair.mechanism import Mechanism
    from kinpair.system import System
    from kinpair.viewer.still import Frame


@final
@dataclass(frozen=True, eq=False)
class LinearModel:
    """ẋ = A x + B u + E w,  y = C x + D u + F w  about a state; x_{k+1} = ... where there is a sample time `dt` [s].

    x are changes of the independent coordinates and rates, in this order: `states` names them, such as "q.elbow" and
    "qd.elbow". u are changes of the `inputs`, w of the `disturbances`, y of the `outputs`. Along a motion every matrix
    has an axis of states in front, and `model[k]` is that of state k.
    """

    mechanism: Mechanism | System
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    E: np.ndarray
    F: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    disturbances: tuple[str, ...]
    at: OperatingPoint
    displacements: np.ndarray
    """Of all rates (..., nv, coordinates), for those of the independent coordinates."""
    dt: float | None = None
    left_out: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    """Rates that `core` left out, each with its row of B."""
    sticking: tuple[str, ...] = ()
    """Names of the rates that dry friction holds at rest."""
    at_boundary: bool = False
    """True if friction of a rate at rest is at its level: the derivatives hold on one side only."""

    # Sizes and parts.

    @property
    def along(self) -> bool:
        """True if it is along a motion, with an axis of states in front."""
        return self.A.ndim == 3

    def __len__(self) -> int:
        """States of the motion along which it was linearised."""
        return len(self._motion("len").A)

    def __getitem__(self, k: int) -> LinearModel:
        """The model about state k of the motion."""
        x = self._motion("[k]")
        a = x.at
        time = a.time[k] if np.ndim(a.time) else a.time
        internal = {name: getattr(a, name)[k] for name in ("x", "u", "x_rate") if getattr(a, name).ndim > 1}
        at = replace(a, q=a.q[k], qd=a.qd[k], tau=a.tau[k], qdd=a.qdd[k], time=time, **internal)
        parts = {name: getattr(x, name)[k] for name in ("A", "B", "C", "D", "E", "F", "displacements")}
        return replace(x, at=at, **parts)

    def _motion(self, what: str) -> LinearModel:
        if not self.along:
            raise InputError(f"{self.name}: is linearised about one state, which has no {what}")
        return self

    def _one(self, what: str) -> LinearModel:
        if self.along:
            raise InputError(
                f"{self.name}: {what} is of one state, and this is along {len(self)}; take model[k]"
            )
        return self

    def _with_modes(self, what: str) -> LinearModel:
        """Return the model of one state; reject one without modes."""
        x = self._one(what)
        if not x.modes:
            raise InputError(f"{self.name}: has no modes to be drawn")
        return x

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.mechanism.name

    def index(self, what: str, name: str) -> int:
        """The number of a name among `states`, `inputs`, `outputs` or `disturbances`."""
        known: tuple[str, ...] = getattr(self, what)
        if name not in known:
            raise InputError(
                f"{self.name}: no {what[:-1]} {name!r}; {nearest(str(name), known)}"
                f"{what.capitalize()}: {listed(known) or 'none'}",
                name=name,
            )
        return known.index(name)

    def part(self, states: Sequence[str]) -> LinearModel:
        """Return the model of some states alone; the others are taken to stay as they are."""
        k = [self.index("states", name) for name in states]
        own = {"A": self.A[..., k, :][..., k], "B": self.B[..., k, :], "E": self.E[..., k, :]}
        nq = len(self.at.coordinates)
        coordinates = tuple(self.at.coordinates[n] for n in k if n < nq)
        rates = tuple(self.at.rates[n - nq] for n in k if nq <= n < nq + len(self.at.rates))
        at = replace(self.at, coordinates=coordinates, rates=rates)
        displacements = self.displacements[..., [n for n in k if n < nq]]
        return replace(
            self, states=tuple(states), C=self.C[..., k], at=at, displacements=displacements, **own
        )

    def with_inputs(self, inputs: Sequence[str]) -> LinearModel:
        """Return the model with some of its inputs."""
        k = [self.index("inputs", name) for name in inputs]
        left_out = {name: row[k] for name, row in self.left_out.items()}
        return replace(self, inputs=tuple(inputs), B=self.B[..., k], D=self.D[..., k], left_out=left_out)

    # Eigenvalues.

    @cached_property
    def _core(self) -> Core:
        x = self._one("a spectrum")
        if x.dt is not None:
            return core_of(x.A - np.eye(len(x.A)), 0)
        return core_of(x.A, len(x.at.coordinates))

    @cached_property
    def _spectrum(self) -> Spectrum:
        return spectrum(self.A, self._core)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues (n,): those of the core, slow ones first, then those of ignorable states, zero as a rule."""
        core = self._core
        rest = len(core.ignored) + len(core.constant)
        if self.dt is not None:
            k = list(core.states)
            return np.concatenate([eigenvalues(self.A[np.ix_(k, k)]), np.ones(rest)])
        return np.concatenate([self._spectrum.values, np.zeros(rest), self._of_ignorable])

    @property
    def _of_ignorable(self) -> np.ndarray:
        """Eigenvalues of ignorable displacements: zero, or, in axes that turn, imaginary."""
        core, nq = self._core, len(self.at.coordinates)
        D = list(core.dropped)
        own = np.linalg.solve(core.N[D], (self.A[:nq, :nq] @ core.N)[D]) if D else np.zeros((0, 0))
        found = core_of(own, 0)
        k = list(found.states)
        return np.concatenate([eigenvalues(own[np.ix_(k, k)]), np.zeros(len(D) - len(k))])

    @property
    def ignorable(self) -> tuple[str, ...]:
        """States on which nothing depends, such as a heading, and states that stay, such as a speed."""
        core = self._core
        within = [core.kept[k] for k in (*core.ignored, *core.constant)]
        return tuple(self.states[k] for k in sorted((*core.dropped, *within)))

    @property
    def core(self) -> LinearModel:
        """Return the model without ignorable states: displacements such as a heading, and rates that stay, such as a
        speed. A regulator for it does not hold these speeds; `part([...])` keeps them."""
        core, k = self._core, list(self._core.states)
        names = [self.states[core.kept[n]] for n in k]
        return replace(
            self.part(names),
            A=core.A[np.ix_(k, k)] + (0.0 if self.dt is None else np.eye(len(k))),
            B=(core.left @ self.B)[k],
            E=(core.left @ self.E)[k],
            left_out={
                name: self.B[self.states.index(name)] for name in self.ignorable if name.startswith("qd.")
            },
        )

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """Modes, one for each real eigenvalue or pair of the core, slow ones first."""
        if self.dt is not None:
            raise InputError(f"{self.name}: modes are those of continuous time; take them before `discrete`")
        return modes_of(self._spectrum, self.states, self.displacements, len(self.at.coordinates))

    @property
    def stable(self) -> bool:
        """True if all changes of the core die away."""
        values = self._spectrum.values
        return bool((np.real(values) < 0.0).all() if self.dt is None else (np.abs(values) < 1.0).all())

    @cached_property
    def steady(self) -> bool:
        """True if it is linearised at rest or about a steady motion. Else eigenvalues are those of an instant."""
        x = self._one("steadiness")
        if x.dt is not None:
            raise InputError(
                f"{self.name}: steadiness is that of continuous time; look at it before `discrete`"
            )
        return is_steady(x.mechanism.model, x.at, x.A, x._core)

    # Responses.

    def frequency_response(self, omega: Any) -> np.ndarray:
        """G (points, outputs, inputs) at frequencies omega (points,) [rad/s]."""
        x = self._one("a frequency response")
        points = np.atleast_1d(np.asarray(omega, dtype=float))
        return frequency_response(x.A, x.B, x.C, x.D, laplace(1j * points, x.dt))

    def transfer_function(self, output: str | None = None, input: str | None = None) -> TransferFunction:
        """Zeros, poles and gain from an input to an output; the only ones need no name."""
        x = self._one("a transfer function")
        i, j = x._only("outputs", output), x._only("inputs", input)
        found = transfer(x.A, x.B[:, j], x.C[i], float(x.D[i, j]))
        return TransferFunction(x.outputs[i], x.inputs[j], *found, x.dt)

    def _only(self, what: str, name: str | None) -> int:
        known = getattr(self, what)
        if name is None and len(known) != 1:
            raise InputError(
                f"{self.name}: has {len(known)} {what}, name one of them: {listed(known) or 'none'}"
            )
        return 0 if name is None else self.index(what, name)

    def bode(self, omega: Any = None, *, output: str | None = None, input: str | None = None) -> Bode:
        """Return gain and phase over frequencies omega (points,) [rad/s], of all outputs and inputs or of those named;
        `.plot("bode.png")` draws them."""
        x = self._some("a frequency response", output, input)
        own = pictures.frequencies(self.eigenvalues, x.dt) if omega is None else omega
        points = bode.frequencies_of(x.name, own)
        G, damped = (
            frequency_response(x.A, x.B, x.C, x.D, laplace(s * points, x.dt)) for s in (1j, 1j + bode.DAMPING)
        )
        return Bode(
            x.name,
            points,
            G,
            bode.phases(G, damped, 0.5 * (x.dt or 0.0) * points),
            x.outputs,
            x.inputs,
            x._units,
        )

    def step(self, time: Any = None, *, output: str | None = None, input: str | None = None) -> StepResponse:
        """Return the responses to a step of size one of each input, at times (points,) or up to a time [s];
        `.plot("step.png")` draws them."""
        x = self._some("a step response", output, input)
        times = step_response.times_for(x.name, self.eigenvalues, x.dt, time)
        y = step_response.responses(x.A, x.B, x.C, x.D, times, x.dt)
        functions = [[x.transfer_function(i, j) for j in x.inputs] for i in x.outputs]
        final = np.array([[g.final for g in row] for row in functions]).reshape(y.shape[1:])
        return StepResponse(x.name, times, y, final, x.outputs, x.inputs, x._units)

    def margins(self, output: str | None = None, input: str | None = None) -> Margins:
        """Return gain, phase and delay margins of the loop in which an input is −1 times an output."""
        x = self._one("a margin")
        g = x.transfer_function(output, input)
        i, j = x.index("outputs", g.output), x.index("inputs", g.input)
        return bode.margins((x.A, x.B[:, j], x.C[i], float(x.D[i, j])), x.dt, g.corners)

    def _some(self, what: str, output: str | None, input: str | None) -> LinearModel:
        """Return the model of one state with the outputs and inputs named, or all of them."""
        x = self._one(what)
        k = [x.index("outputs", output)] if output is not None else list(range(len(x.outputs)))
        own = replace(x, outputs=tuple(x.outputs[n] for n in k), C=x.C[k], D=x.D[k], F=x.F[k])
        return own if input is None else own.with_inputs([input])

    @property
    def _units(self) -> tuple[str, ...]:
        """Units of each output by each input, in brackets."""
        of = {name: unit_of(self.mechanism.model, name) for name in (*self.outputs, *self.inputs)}
        return tuple(ratio(of[y], of[u]) for y in self.outputs for u in self.inputs)

    def plot_response(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        output: str | None = None,
        input: str | None = None,
        omega: Any = None,
    ) -> Figure:
        """Draw gain and phase over frequency, of all outputs and inputs or of those named: `bode().plot()`."""
        return self.bode(omega, output=output, input=input).plot(path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Eigenvalues in the complex plane, and who takes part in each mode."""
        x = self._one("a picture")
        moving = [name for name in x.states if name not in x.ignorable]
        return pictures.spectrum(x.name, x.modes, moving, len(x.ignorable), path)

    def plot_root_locus(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        output: str | None = None,
        input: str | None = None,
        gains: Any = None,
    ) -> Figure:
        """Eigenvalues while an input is fed back by −k times an output, over the gains k: A − b k (1 + k d)⁻¹ c."""
        x = self._one("a root locus")
        i, j = x._only("outputs", output), x._only("inputs", input)
        b, c, d = x.B[:, j : j + 1], x.C[i : i + 1], float(x.D[i, j])
        points = pictures.gains(x.A, b, c) if gains is None else np.atleast_1d(np.asarray(gains, dtype=float))
        found = [eigenvalues(x.A - b * (k / (1.0 + k * d)) @ c) for k in points]
        title = f"{x.name}: {x.inputs[j]} = −k {x.outputs[i]}"
        return pictures.locus(title, points, found, "k", path, bool((points > 0.0).all()))

    @staticmethod
    def plot_locus(
        models: Sequence[LinearModel],
        values: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        quantity: str = "",
    ) -> Figure:
        """Eigenvalues of several models without ignorable ones, over the values (n,) of what differs between them."""
        numbers = np.asarray(values, dtype=float)
        if numbers.shape != (len(models),) or not models:
            raise InputError(
                f"there are {len(models)} models and values of shape {numbers.shape}; give one for each"
            )
        found = [model._one("a locus")._spectrum.values for model in models]
        return pictures.locus(models[0].name, numbers, found, quantity, path, logarithmic=False)

    def plot_modes(self, path: str | os.PathLike[str] | None = None, *, amplitude: float = 0.2) -> Figure:
        """The mechanism swinging in each of its modes, half a cycle in one picture; `amplitude` [rad] or [m] is that
        of the largest displacement."""
        x = self._with_modes("a picture")
        swings = [x.swing(k, amplitude, pictures.STATES) for k in range(len(x.modes))]
        titles = [pictures.words(k, mode) for k, mode in enumerate(x.modes)]
        return pictures.stills(x.mechanism, swings, titles, path)

    def report(
        self, path: str | os.PathLike[str] = "mode.html", *, mode: int = 0, amplitude: float = 0.2
    ) -> Path:
        """Write a page, complete in itself, in which the mechanism swings in a mode, without growth or decay; one that
        does not swing goes there and back in a second. `amplitude` [rad] or [m]."""
        from kinpair.analysis.linear.pictures import written

        return written(self._animated(mode, amplitude), path)

    def animation(self, mode: int = 0, amplitude: float = 0.2) -> Frame:
        """Show the animation inside a notebook; `amplitude` [rad] or [m]."""
        from kinpair.viewer.still import Frame

        return Frame(self._animated(mode, amplitude))

    def _animated(self, mode: int, amplitude: float) -> str:
        x, cycles = self._one("a mode"), pictures.CYCLES
        q = x.swing(mode, amplitude, cycles * pictures.FRAMES + 1, half_cycles=2 * cycles)
        frequency = abs(x.modes[mode].eigenvalue.imag) / (2 * np.pi)
        title = f"{x.name}, {pictures.words(mode, x.modes[mode])}"
        return pictures.animated(x.mechanism, q, 1.0 / frequency if frequency else 1.0, title)

    def swing(self, mode: int, amplitude: float = 0.2, count: int = 5, *, half_cycles: int = 1) -> np.ndarray:
        """Coordinates (count, nq) through half a cycle of a mode, from one end to the other, or through several, for
        `m.picture` or `view`; `mode` is its place in `modes`, 0 of what is printed as mode 1, and `amplitude` [rad] or
        [m] that of the largest displacement."""
        x = self._with_modes("a mode")
        if not 0 <= mode < len(x.modes):
            raise InputError(
                f"{self.name}: mode is {mode}; give 0 to {len(x.modes) - 1}, its place in modes: what is printed as "
                "mode 1 has the place 0",
                mode=mode,
            )
        shape = x.modes[mode].displacement
        return swung(x.mechanism.model, x.at.q, shape, amplitude, count, half_cycles)

    def discrete(self, dt: float) -> LinearModel:
        """Return the model from one sample to the next, `dt` [s] later, while inputs and disturbances stay constant."""
        if self.dt is not None:
            raise InputError(f"{self.name}: has a sample time of {self.dt:g} s already")
        if not (np.ndim(dt) == 0 and 0.0 < dt < np.inf):
            raise InputError(f"{self.name}: dt is {dt!r}; give seconds, above zero", argument="dt")
        A, whole = discrete.held(self.A, np.concatenate([self.B, self.E], axis=-1), float(dt))
        nu = len(self.inputs)
        return replace(self, A=A, B=whole[..., :nu], E=whole[..., nu:], dt=float(dt))

    def to_control(self) -> Any:
        """Convert to `StateSpace` of python-control: inputs, then disturbances."""
        x = self._one("a StateSpace")
        names = {"states": x.states, "inputs": (*x.inputs, *x.disturbances), "outputs": x.outputs}
        B, D = np.hstack([x.B, x.E]), np.hstack([x.D, x.F])
        return state_space(x.name, (x.A, B, x.C, D), x.dt, names)

    # In words.

    def __repr__(self) -> str:
        of = f" along {len(self)} states" if self.along else ""
        return f"<LinearModel of {self.name!r}{of}: {len(self.states)} states, {len(self.inputs)} inputs>"

    def __str__(self) -> str:
        if self.along:
            return f"{self!r}\nstates: {listed(self.states)}\ninputs: {listed(self.inputs) or 'none'}"
        lines = [
            f"{self.name}: {len(self.states)} states: {listed(self.states)}",
            f"inputs: {listed(self.inputs) or 'none'}; outputs: {listed(self.outputs) or 'none'}",
        ]
        if self.dt is not None:
            return "\n".join([*lines, f"sample time {self.dt:g} s"])
        if not self.steady:
            lines.append("not a steady motion: eigenvalues are those of this instant")
        lines += [f"mode {k + 1}: {mode}" for k, mode in enumerate(self.modes)]
        if self.ignorable:
            values = eigenvalues_told(self.eigenvalues[len(self._spectrum.values) :])
            lines.append(f"ignorable, {values}: {listed(self.ignorable)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from kinpair.viewer.still import html_paragraph

        return html_paragraph(str(self))


def eigenvalues_told(x: np.ndarray) -> str:
    """Eigenvalues of ignorable states in words."""
    others = [f"± {abs(v):.6g} i" for v in x.tolist() if v.imag > 0.0]
    return f"eigenvalues {listed([*(['0'] if not x.all() else []), *others])}" if others else "eigenvalue 0"
