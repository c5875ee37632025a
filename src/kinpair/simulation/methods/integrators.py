"""The integrators by name, and the flow that each makes of a mechanism.

One table says which integrator takes what, with the sentences of what is rejected. `docs/events.md` shows it.

events   functions of a user that are watched
limits   limits="stop": an impact without rebound, then a closed limit
impact   limits="bounce": restitution, with friction of surfaces under load in the impact
level    dry friction of constant level
load     friction from load
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.tableau import Tableau
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, LengthError, nearest
from kinpair.simulation.dynamics import Dynamics, with_quaternion
from kinpair.simulation.methods.steps import Midpoint, Variational, semi_implicit_euler
from kinpair.simulation.methods.tableaux import DOP853, DOPRI5, RK4
from kinpair.simulation.torques import Control

RHO = 0.9
ROOM = 400_000  # operations of a formula; LLVM takes some ten seconds for 100 000
FEATURES = ("events", "limits", "impact", "level", "load")
UNCUT = (  # it carries accelerations from step to step
    "takes no events and no limits that stop or bounce; 'rk4', 'dop853' and the other explicit ones do"
)
UNLOADED = (  # its own equations have no loads of joints
    "does not take friction from load; 'dop853', 'rk4' and 'cvode' do, passive=False (--no-passive) leaves friction out"
)
REJECTED: dict[str, dict[str, str]] = {
    "rk4": {},
    "dopri5": {},
    "dop853": {},
    "semi-implicit-euler": {},
    "implicit-midpoint": {},
    "variational": {"load": UNLOADED},
    "generalised-alpha": {"events": UNCUT, "limits": UNCUT, "impact": UNCUT, "load": UNLOADED},
    "time-stepping": {},
    "cvode": {},
    "ida": {"load": UNLOADED},
    "taylor": {},
}
PARTLY = {("taylor", "load"): "without kinks"}  # others are rejected by the solver, which names the kink


def check_combination(name: str, integrator: str, features: Iterable[str]) -> None:
    """Reject features of a run of the mechanism `name` that its integrator does not take."""
    for feature in features:
        sentence = REJECTED[integrator].get(feature)
        if sentence is not None:
            raise InputError(f"{name}: integrator {integrator!r} {sentence}", integrator=integrator)


def table() -> str:
    """Return the table as Markdown: integrators by features."""
    lines = ["| integrator | " + " | ".join(FEATURES) + " |", "|---" * (1 + len(FEATURES)) + "|"]
    for integrator, rejected in REJECTED.items():
        taken = [PARTLY.get((integrator, feature), "yes") for feature in FEATURES]
        pairs = zip(FEATURES, taken, strict=True)
        entries = ["no" if feature in rejected else words for feature, words in pairs]
        lines.append(f"| `{integrator}` | " + " | ".join(entries) + " |")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Integrator:
    """A method: a tableau, or a step of its own that is `solved` for or `direct`."""

    name: str
    order: int
    tableau: Tableau | None = None
    direct: Callable[..., Any] | None = None
    solved: Any = None
    plain_only: bool = False
    """Does it need coordinates whose rates of change are the rates?"""
    external: str = ""
    """The library of the solver, if it is not one of ours."""
    rtol: float | None = None
    """The relative tolerance it is made for, where none is given."""
    theta: float | None = None
    """The place in a step where forces are taken, of time steps with impulses."""
    rho: float | None = None
    """The spectral radius at infinite frequency, of the generalised-α method."""

    @property
    def solution(self) -> Any:
        """The step that is solved for; None of other methods."""
        if self.theta is not None:
            from kinpair.simulation.methods.time_stepping import TimeStepping

            return TimeStepping(self.theta)
        if self.rho is not None:
            from kinpair.simulation.methods.generalised_alpha import GeneralisedAlpha

            return GeneralisedAlpha(self.rho)
        return self.solved

    @property
    def adaptive(self) -> bool:
        """True if it chooses its steps, unless dt is given."""
        return bool(self.external) or (self.tableau is not None and bool(self.tableau.errors))

    def memory(self, nv: int) -> int:
        """Entries of the state that it carries from step to step."""
        return self.solution.memory(nv) if self.rho is not None else 0

    @property
    def dissipates(self) -> bool:
        """True if it takes energy from fast vibrations."""
        return self.rho is not None and self.rho < 1.0

    def holding(self, hold: str) -> str:
        """Choose how constraints are enforced: a method that solves for them in its step is left alone."""
        return "none" if self.rho is not None and hold == "project" else hold

    def with_theta(self, theta: float | None) -> Integrator:
        """Return the method with θ as given."""
        if theta is None:
            return self
        if not self.impulsive or not 0.5 <= theta <= 1.0:
            raise InputError(
                f"theta is {theta!r} for integrator {self.name!r}; 'time-stepping' takes a number from 0.5 to 1",
                integrator=self.name,
            )
        return replace(self, theta=float(theta))

    @property
    def impulsive(self) -> bool:
        """True if contact, limits and dry friction are impulses of each step."""
        return self.theta is not None

    def with_rho(self, rho: float | None) -> Integrator:
        """Return the method with the requested damping."""
        if rho is None:
            return self
        if self.rho is None or not 0.0 <= rho <= 1.0:
            raise InputError(
                f"rho_inf is {rho!r} for integrator {self.name!r}; 'generalised-alpha' takes a number from 0 to 1",
                integrator=self.name,
            )
        return replace(self, rho=float(rho))


INTEGRATORS = {
    integrator.name: integrator
    for integrator in (
        Integrator("rk4", 4, RK4),
        Integrator("dopri5", 5, DOPRI5),
        Integrator("dop853", 8, DOP853),
        Integrator("semi-implicit-euler", 1, direct=semi_implicit_euler),
        Integrator("implicit-midpoint", 2, solved=Midpoint),
        Integrator("variational", 2, solved=Variational, plain_only=True),
        Integrator("generalised-alpha", 2, rho=RHO),
        Integrator("time-stepping", 1, theta=0.5),
        Integrator("cvode", 5, external="scikit-sundae"),
        Integrator("ida", 5, external="scikit-sundae"),
        Integrator("taylor", 20, external="heyoka", rtol=1e-16),
    )
}


def integrator_named(name: str) -> Integrator:
    """The method of that name."""
    if name not in INTEGRATORS:
        raise InputError(
            f"no integrator {name!r}; {nearest(str(name), INTEGRATORS)}Integrators: {', '.join(INTEGRATORS)}",
            integrator=name,
        )
    return INTEGRATORS[name]


def flow_of(
    dynamics: Dynamics,
    integrator: Integrator,
    *,
    source: str = "constant",
    sampled: bool = False,
    control: Control | None = None,
    guard: Callable[..., Any] | None = None,
    change: Callable[..., Any] | None = None,
    watched: bool = True,
) -> Flow:
    """The recorded programs; `control` gives the inputs; `guard` (dynamics, time, y, u) → g; `change` (dynamics, time,
    y, u, e) → y, size at roots of it; with `watched` False samples have no energies and efforts."""
    _check(dynamics, integrator)
    d, solved = dynamics, integrator.solution
    touch = _contact() if d.touching else None
    sizes: dict[str, Shape] = {"time": (), "dt": (), "y": (d.ny,), "u": (d.nu,), "p": (len(d.parameters),)}
    if solved is not None:
        sizes["z"] = (solved.size(d),)
    if touch is not None:
        sizes["z"] = (touch.size(d),)

    def record(f: Callable[..., Any], *names: str) -> Program:
        """f(dynamics, *inputs); the parameters are put into the model first."""
        inputs = (*names, *(("p",) if d.parameters else ()))

        def recorded(*arguments: Any) -> Any:
            here = d.concrete(arguments[-1]) if d.parameters else d
            return f(here.in_phase(arguments[names.index("y")]), *arguments[: len(names)])

        shapes = {name: sizes[name] for name in inputs}
        return formula_of(d, recorded, shapes, getattr(f, "__name__", "guard"), integrator.name)

    loops = _loops(d)
    by_loops = (
        loops is not None
        and solved is None
        and (integrator.direct is None or loops.looped_step(d, integrator.name))
    )
    if not by_loops:
        d.enforcement.check_short(d.model)
    at = ("time", "y", "u", *(("z",) if d.touching else ()))
    programs: dict[str, Any] = {}
    if watched:
        own = touch.watched if touch is not None else Dynamics.watched
        programs["watch"] = loops.watched(d) if loops else record(own, *at)
    if d.settles:
        ends = ("u",) if d.at_ends and d.sticking else ()
        carried = solved.carried(d) if solved is not None and integrator.impulsive else (0, 0, 0)
        settled = _settled_but(carried) if carried[2] else Dynamics.settled
        programs["after"] = loops.settled(d) if loops else record(settled, "time", "y", *ends)
    numbers = control.numbers if control is not None else 0
    sizes["r"] = (numbers,)
    if control is not None:
        programs["control"] = record(control, "time", "y", "u", *(("r",) if numbers else ()))
    if guard is not None:
        programs["guard"] = record(guard, *at)
        sizes["e"] = (programs["guard"].outputs[0].size + 1,)
    if change is not None:
        programs["change"] = record(change, "time", "y", "u", "e")
    everything = ("time", "dt", "y", "u")
    if integrator.tableau is not None:
        own = touch.rate if touch is not None else Dynamics.rate
        programs["rhs"] = loops.rate(d) if loops else record(own, *at)
    if touch is not None:
        programs["start"] = record(touch.start, "time", "y", "u")
        programs["solve"] = touch.solve(d)
    if integrator.direct is not None:
        step = loops.looped_step(d, integrator.name) if loops else None
        programs["finish"] = step(d) if step else record(integrator.direct, *everything)
    by_bodies = _solved_by_loops(d, solved) if loops and solved is not None else {}
    if by_bodies:
        programs |= by_bodies
    elif solved is not None:
        programs["start"] = record(solved.start, *everything)
        if integrator.impulsive:
            programs["solve"] = solved.solve(d)
        else:
            programs["improve"] = record(solved.improve, *everything, "z")
        programs["finish"] = record(solved.finish, *everything, "z")
    return Flow(
        ny=d.ny,
        nu=d.nu,
        np=len(d.parameters),
        nw=d.nw if watched else 0,
        ng=programs["guard"].outputs[0].size if guard is not None else 0,
        nz=sizes.get("z", (0,))[0],
        nr=numbers,
        source=source,
        sampled=sampled,
        afresh=d.layout.memory.stop - 1 if d.memory else None,
        ahead=getattr(solved, "ahead", 0.5) if solved is not None else 0.0,
        lasting=getattr(guard, "lasting", ()),
        slopes=getattr(guard, "slopes", ()),
        **programs,
    )


def _settled_but(carried: tuple[int, int, int]) -> Callable[..., Any]:
    """Return `Dynamics.settled` with zeros for the entries that the loop carries, see `Solve`."""
    first, _, size = carried

    def settled(d: Dynamics, *arguments: Any) -> Any:
        found = d.settled(*arguments)
        y, *more = found if isinstance(found, tuple) else (found,)
        y = array([*y[:first], *np.zeros(size), *y[first + size :]])
        return (y, *more) if more else y

    return settled


def _loops(d: Dynamics) -> Any:
    """Return the module of programs as loops over the bodies, where they stand for the equations; else None."""
    if d.special:
        return None
    from kinpair.simulation.methods import looped

    return looped if looped.is_looped(d) else None


def _solved_by_loops(d: Dynamics, solved: Any) -> dict[str, Any]:
    """Return the programs of a step that is solved for as loops over the bodies; none where there are no loops."""
    from kinpair.simulation.methods.looped_alpha import programs_of

    return programs_of(d, solved)


def _contact() -> Any:
    """Return the module of contact between events, which other runs do not import."""
    from kinpair.simulation.methods import contact_between

    return contact_between


def formula_of(
    d: Dynamics, function: Callable[..., Any], shapes: Mapping[str, Shape], name: str, integrator: str = ""
) -> Program:
    """Return the program of a function of a run; InputError where it is too long to be compiled."""
    try:
        with np.errstate(all="ignore"):
            return trace(function, shapes, name=name, room=ROOM)
    except LengthError as error:
        from kinpair.simulation.methods.looped import prevented

        reason = prevented(d) or f"integrator {integrator!r} has none"
        raise InputError(
            f"{d.model.name}: a formula of this run of {len(d.model.moving)} bodies has more than {ROOM} operations; "
            f"runs of that length are loops over the bodies, and this one has none: {reason}; see "
            "docs/long_mechanisms.md",
        ) from error


def _check(dynamics: Dynamics, integrator: Integrator) -> None:
    if integrator.solved in (Midpoint, Variational) and dynamics.enforcement.joins:
        raise InputError(
            f"{dynamics.model.name}: integrator {integrator.name!r} takes no constraints; 'rk4', 'dop853' "
            "and the other explicit ones do, and 'generalised-alpha'",
            integrator=integrator.name,
        )
    if (integrator.solved is not None or integrator.rho is not None) and (
        dynamics.actuated or dynamics.layout.x.stop > dynamics.layout.x.start
    ):
        raise InputError(
            f"{dynamics.model.name}: integrator {integrator.name!r} takes no actuators and no internal states; "
            "'dop853' and the other explicit ones do, and where these are fast, 'cvode' and 'ida'",
            integrator=integrator.name,
        )
    turning = with_quaternion(dynamics.model)
    if integrator.plain_only and turning:
        joint = dynamics.model.joint_names[turning[0]]
        raise InputError(
            f"{dynamics.model.name}: integrator {integrator.name!r} takes no quaternions, and joint {joint!r} has one; "
            "take 'implicit-midpoint', or `mechanism.split()`, whose joints have one degree each",
            joint=joint,
        )
