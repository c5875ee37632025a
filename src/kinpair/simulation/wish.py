"""What is to be simulated, and the compiled loop of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kinpair.compiler.cache import Store
from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.bumpers import Bumpers
from kinpair.simulation.held import Held
from kinpair.simulation.methods.integrators import Integrator, flow_of
from kinpair.simulation.methods.outside import library
from kinpair.simulation.torques import Torque

KEPT_LOOPS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """What is to be simulated."""

    mechanism: Mechanism
    integrator: Integrator
    torque: Torque
    external: dict[str, Callable[..., Any] | None]
    parameters: tuple[str, ...]
    passive: bool
    batch: bool
    held: Held | None = None
    bumpers: Bumpers | None = None
    tallied: bool = False
    model: Model | None = None

    @property
    def dynamics(self) -> Dynamics:
        """What moves."""
        t = self.torque
        inside = t.function if t.kind == "recorded" and not t.held else None
        return Dynamics(
            self.model or self.mechanism.model,
            self.passive,
            driven=t.kind != "none",
            torque=inside,
            external=self.external,
            parameters=self.parameters,
            held=self.held,
            memory=self.integrator.memory(self.mechanism.nv),
            bumpers=self.bumpers,
            tallied=self.tallied,
        )

    @property
    def source(self) -> str:
        """Where the inputs come from."""
        kinds = {"table": "table", "called": "call"}
        if self.torque.kind == "recorded" and self.torque.held:
            return "program"
        return kinds.get(self.torque.kind, "given")

    def loop(self, adaptive: bool, guard: Callable[..., Any] | None = None) -> Any:
        """The compiled loop; one without functions of the user is kept for the next run."""
        if self.integrator.outside:
            return library(self, guard)
        functions = [f for f in (*self.external.values(), self.dynamics.torque, guard) if f is not None]
        if functions or self.source == "program" or self.bumpers is not None or self.tallied:
            control = self.torque.function if self.source == "program" else None
            own = self.dynamics, self.integrator, adaptive, self.source, self.torque.held
            return _made(*own, control, guard)
        d = self.dynamics
        names = tuple(self.external)
        return _kept(
            d.model,
            d.passive,
            d.driven,
            names,
            d.parameters,
            self.integrator,
            adaptive,
            self.source,
            self.torque.held,
            self.held,
        )


def _made(
    d: Dynamics,
    method: Integrator,
    adaptive: bool,
    source: str,
    held: bool,
    control: Any = None,
    guard: Any = None,
) -> Any:
    flow = flow_of(d, method, source=source, held=held, control=control, guard=guard)
    if adaptive:
        assert method.tableau is not None
        return AdaptiveLoop(flow, method.tableau, store=Store())
    return FixedLoop(flow, method.tableau, store=Store())


@lru_cache(maxsize=KEPT_LOOPS)
def _kept(
    model: Any,
    passive: bool,
    driven: bool,
    external: tuple[str, ...],
    parameters: tuple[str, ...],
    method: Integrator,
    adaptive: bool,
    source: str,
    held: bool,
    constraints: Held | None,
) -> Any:
    d = Dynamics(
        model,
        passive,
        driven,
        external=dict.fromkeys(external),
        parameters=parameters,
        held=constraints,
        memory=method.memory(model.nv),
    )
    return _made(d, method, adaptive, source, held)
