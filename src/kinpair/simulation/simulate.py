"""`kp.simulate`: forward dynamics becomes motion."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.simulation.collected import as_result, collected
from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limits
from kinpair.simulation.given import movable
from kinpair.simulation.options import ALPHA, Options
from kinpair.simulation.prepared import prepared
from kinpair.simulation.result import Result
from kinpair.simulation.schedule import positive
from kinpair.simulation.storage.claims import claimed
from kinpair.simulation.storage.targets import RUN, target
from kinpair.system import System

CHECKPOINT = 0.5  # seconds of work between two of them


def simulate(
    mechanism: Mechanism | System,
    q: Any,
    qd: Any,
    *,
    duration: float,
    torque: Any = None,
    integrator: str = "dop853",
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
    events: Sequence[Event] | None = None,
    limits: str | Limits = "ignore",
    save: str | os.PathLike[str] | None = None,
    checkpoint: float = CHECKPOINT,
    progress: bool | Callable[[float], Any] | None = None,
) -> Result:
    """The motion from q (nq,), qd (nv,) for `duration` [s], as a `Result`.

    A batch q (batch, nq) gives as many motions, in SIMD lanes and `threads`, by fixed steps. A `System` moves like a
    mechanism; its potential energy is not known. See docs/simulate.md.

    * `torque`: None, constant (nv,), samples (times, values), a function (time, q, qd) → (nv,), or an object to be
      called like one; with an attribute `sample_time` [s] it is evaluated at multiples of that and held between;
    * `integrator`: by name; `dt` [s] for fixed steps, `rtol` and `atol` (one, or nq + nv of them) for adaptive ones,
      which are no longer than `max_step` [s]: what is shorter, such as a pulse of a function, may go unseen;
    * `output`: samples at an interval [s], or at given times;
    * `external`: wrenches (6,) by link or frame, or functions (time, q, qd) → (6,);
    * `parameters`: constants of the mechanism by name, such as {"upper.mass": 2.0}, in a batch one for each motion;
    * `solver`: how constraints are solved; `hold`: how they are held, "project" after each step, "baumgarte" with
      the rate `alpha` [1/s], or "none"; `rho_inf`: what generalised-alpha leaves of infinitely fast vibrations;
    * `events`: `Event`s to be found on the way; `limits`: what happens at the limits of joints, "ignore", "stop",
      "bounce", "spring", or a `Limits`; see docs/events.md;
    * `save`: a file (.h5) that the samples go to as they are computed, and stay in: the result reads them from there.
      Every `checkpoint` seconds it holds all that `resume` needs to go on.
    """
    options, began = Options.of(locals()), perf_counter()
    mechanism = movable(mechanism)
    ready = prepared(mechanism, options)
    if save is not None:
        return _streamed(ready, save, options, checkpoint, progress)
    found, interrupted = collected(ready.pieces(ready.begin()), ready.run, progress)
    return as_result(ready, found, interrupted, options.named, perf_counter() - began)


def _streamed(
    ready: Any, save: Any, options: Options, checkpoint: float, progress: bool | Callable[[float], Any] | None
) -> Result:
    """The run with its samples in a file."""
    from kinpair.simulation.storage.storage_stream import begun, saved, stream

    mechanism: Mechanism = ready.run.wish.mechanism
    if not isinstance(save, str | os.PathLike):
        raise InputError(
            f"{mechanism.name}: save is {save!r}; it must be the path of a file", argument="save"
        )
    file, every = target(save, RUN), positive(mechanism.name, "checkpoint", checkpoint)
    pieces = ready.pieces(ready.begin(), whole=False)
    with claimed(file):
        recorder = begun(ready, file, options.named, every)
        return saved(stream(recorder, pieces, progress), mechanism, options.named)
