"""`kp.simulate`: forward dynamics becomes motion."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from kinpair.compiler.background import waiting
from kinpair.compiler.patience import patience as progress_line
from kinpair.constraints.rows.build import is_constrained
from kinpair.errors import InputError, LimitWarning, caller_level, known_keywords
from kinpair.mechanism import Mechanism
from kinpair.runs.judgement import Outcome, as_result, collected, driver_of
from kinpair.runs.result import Result
from kinpair.runs.targets import RUN, claimed, target
from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limits
from kinpair.simulation.given import ALPHA, CHECKPOINT, Options, movable
from kinpair.simulation.prepare import prepared
from kinpair.simulation.run import Run, warn_of_calls
from kinpair.simulation.schedule import PATIENCE, positive
from kinpair.system import System

OVERLAP = 1e-4  # of geoms at the start that is reported [m]


@known_keywords
def simulate(
    mechanism: Mechanism | System,
    q: Any = None,
    qd: Any = None,
    *,
    duration: float,
    torque: Any = None,
    input: Any = None,
    x: Any = None,
    integrator: str | None = None,
    dt: float | None = None,
    rtol: float | None = None,
    atol: Any = None,
    max_step: float | None = None,
    output: Any = None,
    external: Mapping[str, Any] | None = None,
    passive: bool = True,
    parameters: Mapping[str, Any] | None = None,
    time: float = 0.0,
    threads: int = 1,
    solver: str | None = None,
    hold: str = "project",
    alpha: float = ALPHA,
    rho_inf: float | None = None,
    theta: float | None = None,
    events: Sequence[Event] | None = None,
    limits: str | Limits | None = None,
    patience: float = PATIENCE,
    save: str | os.PathLike[str] | None = None,
    checkpoint: float = CHECKPOINT,
    progress: bool | Callable[[float], Any] | None = None,
) -> Result:
    """The motion from q (nq,), qd (nv,) for `duration` [s], as a `Result`.

    Without `q` it starts where the description says (`Mechanism.start`), without `qd` at rest; prescribed motions have
    their rates. A batch q (batch, nq) gives as many motions, in SIMD lanes and `threads`, by fixed steps. A `System`
    moves like a mechanism; its potential energy is not known. See docs/simulate.md.

    * `torque`: None, constant (nv,), samples (times, values), a function (time, q, qd) → (nv,), or an object to be
      called like one; with an attribute `sample_time` [s] it is evaluated at multiples of that and constant in between;
    * `input`: where there are actuators, their inputs and the efforts on the other rates, `mechanism.u_names`: as
      `torque`, of nu numbers, by name, or a function (time, q, qd, x); `x`: internal states to begin with (nx,), by
      name, or as the description has them;
    * `integrator`: by name; None: "dop853", "time-stepping" where geoms may touch, or "cvode" where an internal state
      or a damper settles so fast that explicit steps would be slow (the summary gives the reason). `dt` [s] for fixed
      steps, `rtol` and `atol` (one, or nq + nv of them) for adaptive ones, which are no longer than `max_step` [s]:
      what is shorter, such as a pulse of a function, may go unseen;
    * `output`: samples at an interval [s] and at the end, or at given times and no others;
    * `external`: wrenches (6,) by link or frame, or functions (time, q, qd) → (6,);
    * `parameters`: constants of the mechanism by name, such as {"upper.mass": 2.0}, in a batch one for each motion;
    * `solver`: how constraints are solved; `hold`: how they are enforced, "project" after each step, "baumgarte" with
      the rate `alpha` [1/s] (cvode, ida and taylor with "project" too), or "none"; `rho_inf`: what
      generalised-alpha leaves of infinitely fast vibrations; `theta`, 0.5 to 1, of time-stepping: how much of a step
      is taken with the rates at its end;
    * `events`: `Event`s to be found during the run; `limits`: what happens at the limits of joints, "ignore", "stop",
      "bounce", "spring", "saturate" (efforts are clipped to those of the description), or a `Limits`; None: as the
      description says, else "ignore"; see docs/events.md. A LimitWarning names the joints that start outside their
      limits, and the nearest start inside;
    * `patience`: seconds of computing without progress after which a run by adaptive steps ends; `math.inf` waits;
    * `save`: a file (.h5) that the samples go to as they are computed, and stay in: the result reads them from there.
      Every `checkpoint` seconds it holds all that `resume` needs to go on.
    """
    options = Options.of(locals())
    if q is None or qd is None:
        options = replace(options, **_start(movable(mechanism), q, qd, time))
    return outcome_of(mechanism, options, save=save, checkpoint=checkpoint, progress=progress).judged


def _start(mechanism: Mechanism | System, q: Any, qd: Any, time: float) -> dict[str, Any]:
    """Return the state to begin with: the start of the description, at rest but for prescribed motions."""
    if isinstance(mechanism, System):
        raise InputError(f"{mechanism.name}: a system without bodies has no start; give q and qd")
    constrained = is_constrained(mechanism.model.description)
    if q is None:
        q = mechanism.start()
        q = mechanism.assemble(q, time=time) if constrained and time else q
    if qd is None and constrained:
        qd = mechanism.velocities(q, time=time)
    return {"q": q, "qd": np.zeros(mechanism.nv) if qd is None else qd}


@waiting()
def outcome_of(
    mechanism: Mechanism | System,
    options: Options,
    *,
    save: str | os.PathLike[str] | None = None,
    checkpoint: float = CHECKPOINT,
    progress: bool | Callable[[float], Any] | None = None,
) -> Outcome:
    """Simulate as `simulate` does, and return how the run ended without a warning or an error."""
    began, moving = perf_counter(), movable(mechanism)
    with progress_line(f"preparing the motion of {moving.name!r}"):
        run = prepared(moving, options)
    _check_start(run)
    warn_of_calls(run)
    if save is not None:
        return _streamed(run, save, checkpoint, progress)
    driver = driver_of(run)
    pieces = collected(driver, progress)
    return Outcome(as_result(driver, pieces, perf_counter() - began), run.raised)


def _check_start(run: Run) -> None:
    """Warn of a start outside the limits of joints."""
    m = run.mechanism
    if m.model.once(
        "limited", lambda: bool(np.isfinite([m.model.joints.lower, m.model.joints.upper]).any())
    ) and (text := m.start_warning(run.start[..., : m.nq], time=run.time)):
        warnings.warn(text, LimitWarning, stacklevel=caller_level())
    _warn_of_overlap(run)


def _warn_of_overlap(run: Run) -> None:
    """Warn of geoms that overlap at the start; of a batch, those of its first state."""
    m, q = run.mechanism, run.start[..., : run.mechanism.nq].reshape(-1, run.mechanism.nq)[0]
    deep = [x for x in m.contacts(q) if x.gap < -OVERLAP] if m.model.contacts is not None else []
    if deep:
        worst, pairs = min(deep, key=lambda x: x.gap), len({(x.a, x.b) for x in deep})
        warnings.warn(
            f"{m.name}: geoms {worst.a!r} and {worst.b!r} overlap by {-worst.gap:.2g} m at the start"
            + (f" ({pairs} pairs in all)" if pairs > 1 else "")
            + "; m.assemble(q) is a start without overlap",
            LimitWarning,
            stacklevel=caller_level(),
        )


def _streamed(
    run: Run, save: Any, checkpoint: float, progress: bool | Callable[[float], Any] | None
) -> Outcome:
    """Simulate with the samples in a file."""
    from kinpair.runs.recorder import (
        begun,  # importing h5py is slow
        saved,
        stream,
    )

    if not isinstance(save, str | os.PathLike):
        raise InputError(f"{run.name}: save is {save!r}; it must be the path of a file", argument="save")
    file, every = target(save, RUN), positive(run.name, "checkpoint", checkpoint)
    driver = driver_of(run, whole=False)
    with claimed(file):
        recorder = begun(driver, file, every)
        stored = stream(recorder, driver.pieces(), progress)
        return Outcome(saved(stored, run.mechanism, run.options), run.raised)
