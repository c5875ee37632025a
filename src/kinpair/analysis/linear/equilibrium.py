"""`kp.equilibrium`: where a mechanism stands, or how it moves steadily.

A mechanism at rest on its contacts: whether friction and normal forces hold it, and with which margin.

At a position with gaps closed and at rest, forces of contact are sought for which nothing accelerates:

    c = D λ + g = 0,   D = J G Jᵀ,   g = J a₀,   λ_n ≥ 0,   ‖λ_t‖ ≤ s μ λ_n

a₀ are the accelerations without contact, G the response of the mechanism with its loops. The least s for which the
accelerations vanish says how much of the friction is needed; the margin is 1/s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.linearise import linearise
from kinpair.analysis.linear.point import has_ports, movable, point_of
from kinpair.analysis.linear.search import Balance, EquilibriumRequest, Search
from kinpair.analysis.linear.steady_state import grounded
from kinpair.constraints.solve.problem import Disc, Group, Interval, solve
from kinpair.contact.search import ContactPoint
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.system import System

TOUCHES = 1e-6  # gap of a contact that counts as closed [m]
HOLDS = 1e-10  # accelerations that are left, of those without contact
MOST, LEAST = 1e4, 1e-6  # factors of friction between which the margin is sought
HALVINGS = 60


@final
@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Verdict whether a mechanism at rest stays at q (nq,) on its contacts.

    `forces` (points, 3) [N] act on the first geom of each point, in the world; the one with the least sum of squares
    where they are not `unique`. `margin`: the coefficients of friction may be divided by this before it moves; inf
    where it needs no friction, 0 where no friction would hold it. `acceleration` (nv,) is what is left.
    `pushed`: efforts of limits that push, by name of their rate.
    """

    mechanism: Mechanism
    q: np.ndarray
    points: tuple[ContactPoint, ...]
    forces: np.ndarray
    acceleration: np.ndarray
    holds: bool
    unique: bool
    margin: float
    pushed: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def by_pair(self) -> dict[tuple[str, str], np.ndarray]:
        """Sum of the forces on the first geom of each pair (3,) [N]."""
        sums: dict[tuple[str, str], np.ndarray] = {}
        for x, force in zip(self.points, self.forces, strict=True):
            sums[x.a, x.b] = sums.get((x.a, x.b), np.zeros(3)) + force
        return sums

    def __str__(self) -> str:
        m = self.mechanism
        lines = [
            f"{m.name}: {'stands' if self.holds else 'does not stand'}, margin of friction {self.margin:.6g}"
        ]
        for (a, b), force in self.by_pair.items():
            lines.append(f"{a} on {b}: force {', '.join(f'{x:.6g}' for x in force)} N")
        lines += [f"{name} at its limit: {effort:.6g}" for name, effort in self.pushed.items()]
        if not self.unique:
            lines.append("forces are not unique: those with the least sum of squares")
        return "\n".join(lines)


def standing(
    m: Mechanism, q: np.ndarray, tau: np.ndarray, time: float, *, passive: bool, limits: bool
) -> Standing | None:
    """Return whether a mechanism stands at q with joint efforts tau (nv,); None where no geoms touch.

    limits: those that q reaches push.
    """
    points = m.contacts(q, margin=TOUCHES)
    if not points:
        return None
    if m.model.frictions or m.model.surfaces:
        raise InputError(
            f"{m.name}: an equilibrium on contacts with dry friction in joints is not computed; leave that friction "
            "out, or simulate until it rests"
        )
    ends = _reached(m, q) if limits else {}
    problem = _Problem(m, q, points, ends, tau, time, passive)
    lam, qdd, holds = problem.solved(1.0)
    unique = bool(np.linalg.matrix_rank(problem.J) == len(problem.J))
    if holds and not unique:
        least = np.linalg.pinv(problem.J.T) @ (problem.J.T @ lam)
        lam = least if problem.allows(least) else lam
    frames = np.array([[p.normal, *p.tangents] for p in points])
    forces = np.einsum("ki,kij->kj", lam[: 3 * len(points)].reshape(-1, 3), frames)
    pushes = zip(ends.items(), lam[3 * len(points) :], strict=True)
    pushed = {m.v_names[v]: float(side * push) for (v, side), push in pushes if push > 0.0}
    return Standing(m, q, points, forces, qdd, holds, unique, problem.margin(holds), pushed)


def _reached(m: Mechanism, q: np.ndarray) -> dict[int, float]:
    """Return the numbers of the rates whose coordinates are at a limit, with 1 for a lower and -1 for an upper one."""
    joints, result = m.model.joints, dict[int, float]()
    for v, n in enumerate(joints.spring_q.tolist()):
        for limit, side in ((joints.lower[n], 1.0), (joints.upper[n], -1.0)) if n >= 0 else ():
            if side * (q[n] - limit) <= TOUCHES:
                result[v] = side
    return result


class _Problem:
    """The forces of contact at a position."""

    def __init__(
        self,
        m: Mechanism,
        q: np.ndarray,
        points: Sequence[ContactPoint],
        ends: Mapping[int, float],
        tau: np.ndarray,
        time: float,
        passive: bool,
    ) -> None:
        self.mu = [p.mu_static for p in points]
        units = np.eye(m.nv)
        pushes = [side * units[v] for v, side in ends.items()]
        self.J = np.vstack([m.contact_rows(q, points), *pushes])
        H = m.mass_matrix(q)
        G = np.linalg.inv(H)
        if m.closure is not None:
            A = m.constraint_matrix(q, time=time)
            G = G - G @ A.T @ np.linalg.pinv(A @ G @ A.T) @ A @ G
        self.free = m.forward_dynamics(q, np.zeros(m.nv), tau, time=time, passive=passive)
        self.response = G @ self.J.T
        self.D, self.g = self.J @ self.response, self.J @ self.free

    def solved(self, factor: float) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return forces, accelerations, and whether nothing accelerates, with friction times `factor`."""
        groups: list[Group] = []
        for k, mu in enumerate(self.mu):
            groups.append(Interval(3 * k))
            groups.append(Disc((3 * k + 1, 3 * k + 2), mu=factor * mu, normal=3 * k))
        groups += [Interval(row) for row in range(3 * len(self.mu), len(self.J))]
        lam = solve(self.D, self.g, groups).x
        qdd = self.free + self.response @ lam
        return lam, qdd, bool(np.abs(qdd).max() <= HOLDS * np.abs(self.free).max(initial=1.0))

    def allows(self, lam: np.ndarray) -> bool:
        """True if forces are in their cones."""
        count = 3 * len(self.mu)
        n, t, slack = lam[:count:3], np.hypot(lam[1:count:3], lam[2:count:3]), 1e-9 * np.abs(lam).max()
        pushes = min(n.min(), lam[count:].min(initial=0.0)) >= -slack
        return bool(pushes and (t <= np.array(self.mu) * n + slack).all())

    def margin(self, holds: bool) -> float:
        """Return by what the coefficients of friction may be divided before it moves."""
        low, high = (LEAST, 1.0) if holds else (1.0, MOST)
        if holds and self.solved(LEAST)[2]:
            return np.inf
        if not holds and not self.solved(MOST)[2]:
            return 0.0
        for _ in range(HALVINGS):
            middle = np.sqrt(low * high)
            if self.solved(middle)[2]:
                high = middle
            else:
                low = middle
            if high - low <= 1e-13 * high:
                break
        return float(1.0 / high)


SAME = 1e-6  # positions that agree to this are the same [rad] or [m]
FEW = 6  # coordinates in a short form
NONE = 1e-12  # of the largest: what is smaller is shown as zero
GROWS = 1e-7  # of the largest |λ|: a real part beyond this is no rounding


@final
@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Balance):
    """A state in which nothing accelerates, or a steady motion.

    q (nq,), rates qd (nv,), efforts u (nv,), or inputs u (nu,) and internal states x (nx,) where there are actuators;
    `turning`: the rate [rad/s] about the vertical of the axes in which it
    stands still, and `spins` (3,) of joints against them, in axes of the child; `pushed`: efforts of limits that hold a
    coordinate, by name; `residual`: the largest acceleration that is left.
    """

    def linearise(self, **options: Any) -> LinearModel:
        """The linear model about it; options as for `kp.linearise`."""
        own: dict[str, Any] = {
            "u": self._efforts,
            "x": self.x if self.x.size else None,
            "passive": self.passive,
            "time": self.time,
        }
        if self.spins or self.turning:
            own["axes"] = {name: -s for name, s in self.spins.items()}
        return linearise(self.mechanism, self.q, self.qd, **{**own, **options})

    @property
    def _efforts(self) -> np.ndarray:
        """Efforts with those of the limits; inputs as they are."""
        if self._driven:
            return self.u
        tau = self.u.copy()
        for name, effort in self.pushed.items():
            tau[self.mechanism.v_names.index(name)] += effort
        return tau

    @property
    def _driven(self) -> bool:
        """True if actuators drive the mechanism, or there are internal states."""
        return has_ports(self.mechanism)

    @cached_property
    def _growth(self) -> float:
        """The largest real part of an eigenvalue as a part of the largest eigenvalue; coordinates at limits stay."""
        model = self.linearise()
        kept = [x for x in model.states if x.partition(".")[2] not in self.pushed]
        values = model.part(kept).eigenvalues
        return float(np.real(values).max(initial=-np.inf) / max(np.abs(values).max(initial=0.0), 1e-300))

    @property
    def stability(self) -> str:
        """Stability by the eigenvalues: "unstable", "asymptotically stable", or, where some changes neither grow nor
        die away, "stable to first order"."""
        if self._growth > GROWS:
            return "unstable"
        return "asymptotically stable" if self._growth < -GROWS else "stable to first order"

    @property
    def stable(self) -> bool:
        """True if no small change grows."""
        return self._growth <= GROWS

    @property
    def beyond(self) -> dict[str, float]:
        """Efforts that pass the limits of their joints, by name."""
        tau = point_of(self.mechanism, self.q, self.qd, self.u, self.time, self.x).tau
        over = np.flatnonzero(np.abs(tau) > self.mechanism.model.joints.effort)
        return {self.mechanism.v_names[k]: float(tau[k]) for k in over}

    def __repr__(self) -> str:
        m, kind = self.mechanism, "steady motion" if self.qd.any() else "at rest"
        return f"<Equilibrium of {m.name!r}: {kind}, q {_entries(m.q_names, self.q, every=True, most=FEW)}>"

    def __str__(self) -> str:
        m = self.mechanism
        lines = [f"{m.name}: {'steady motion' if self.qd.any() else 'equilibrium'}, {self.stability}"]
        lines.append("q: " + _entries(m.q_names, self.q, every=True))
        if self.qd.any():
            lines.append("qd: " + _entries(m.v_names, self.qd))
        if self.turning:
            lines.append(f"turning about the vertical with {self.turning:.6g} rad/s")
        inputs = ("inputs", m.u_names) if self._driven else ("efforts", m.v_names)
        for (what, names), values in ((inputs, self.u), (("x", m.x_names), self.x)):
            if shown := _entries(names, values):
                lines.append(f"{what}: {shown}")
        lines += [f"the limit of {name} pushes with {effort:.6g}" for name, effort in self.pushed.items()]
        for name, effort in self.beyond.items():
            most = m.model.joints.effort[m.v_names.index(name)]
            lines.append(f"beyond its limit: {name} needs {effort:.6g}, and has {most:.6g}")
        return "\n".join(lines)


def _entries(names: Sequence[str], x: np.ndarray, every: bool = False, most: int = 40) -> str:
    near = np.where(np.abs(x) < NONE * np.abs(x).max(initial=1.0), 0.0, x)
    shown = [
        f"{name} {value:.6g}" for name, value in zip(names, near.tolist(), strict=True) if every or value
    ]
    return listed(shown, most)


def equilibrium(
    mechanism: Mechanism | System,
    guess: Any = None,
    *,
    u: Any = None,
    x: Any = None,
    free: Sequence[str] = (),
    fixed: Sequence[str] = (),
    rates: Mapping[str, float] | None = None,
    turning: float | None = 0.0,
    spins: Mapping[str, Any] | None = None,
    free_rates: Sequence[str] = (),
    limits: bool = True,
    passive: bool = True,
    time: float = 0.0,
) -> Any:
    """The `Equilibrium` next to a guess q, or a tuple of all different ones from several guesses (n, nq).

    * `guess`: coordinates (nq,) or by name, the start of the description by default;
    * `u`: efforts that stay constant, zero by default, or inputs where there are actuators; `x`: a guess of internal
      states,
      which are found; `free`: efforts or inputs to be found, by name: coordinates then change only where these do not
      do alone. `fixed`: coordinates that stay, by the name of their rate;
    * for steady motions: `rates`, constant ones by name; `turning` [rad/s], of everything about the vertical, None to
      find it; `spins` (3,) [rad/s] by joint with a quaternion, of the child about an axis of its symmetry;
      `free_rates`: rates, and joints that spin, whose size is to be found, beginning with what is given;
    * `limits`: False lets coordinates pass the limits of their joints.

    Where geoms touch at the guess, the result is a `Standing`: whether contact holds the mechanism there, with which
    margin of friction, and the forces.

    SingularError where there is none, with the rates that keep accelerating.
    """
    m = movable("equilibrium", mechanism)
    turns = {name: np.asarray(s, dtype=float) for name, s in (spins or {}).items()}
    known = {name: float(x) for name, x in (rates or {}).items()}
    request = EquilibriumRequest(
        m, tuple(free), tuple(fixed), known, turning, turns, tuple(free_rates), limits, passive, float(time)
    )
    _check(request, free=free, fixed=fixed, rates=rates or {}, free_rates=free_rates)
    if guess is not None and not isinstance(guess, Mapping) and np.ndim(guess) == 2:
        return _every(request, np.asarray(guess, dtype=float), u, x)
    return _one(request, guess, u, x)


def _check(request: EquilibriumRequest, **names: Any) -> None:
    """Refuse unknown names."""
    m, joints = request.m, grounded(request.m.model)
    for what, given in names.items():
        if isinstance(given, str):
            raise InputError(f"{m.name}: {what} is {given!r}; give a tuple of names, ({given!r},)")
        known = {"free_rates": (*m.v_names, *request.spins), "free": request.controls}.get(what, m.v_names)
        word = "input" if what == "free" and request.controls != m.v_names else "rate"
        for name in given:
            if name not in known:
                raise InputError(
                    f"{m.name}: no {word} {name!r} for {what}=; {nearest(str(name), known)}{word.capitalize()}s: "
                    f"{listed(known)}",
                    rate=name,
                )
    for name, s in request.spins.items():
        if name not in joints or s.shape != (3,) or not s.any() or not np.isfinite(s).all():
            raise InputError(
                f"{m.name}: spins of {name!r} is {s.tolist()!r}; give three numbers [rad/s], not all zero, by name of "
                f"a joint with a quaternion on the ground: {listed(joints) or 'there is none'}",
                joint=name,
            )


def _one(request: EquilibriumRequest, guess: Any, u: Any, x: Any) -> Equilibrium | Standing:
    m, time = request.m, request.time
    if guess is None:
        guess = m.start() if isinstance(m, Mechanism) else np.zeros(m.nq)
    start = m.by_name(time, q=guess)[0]
    if m.closure is not None and m.closure.row_names and not isinstance(guess, Mapping):
        start = m.assemble(start, fixed=request.fixed, time=time)
    if isinstance(m, Mechanism) and m.model.contacts is not None:
        efforts = point_of(m, start, None, u, time, x).tau
        on_contacts = standing(m, start, efforts, time, passive=request.passive, limits=request.limits)
        if on_contacts is not None:
            return on_contacts
    found = Search(request, point_of(m, start, None, u, time, x)).found()
    return Equilibrium(**found.parts)


def _every(
    request: EquilibriumRequest, guesses: np.ndarray, u: Any, x: Any
) -> tuple[Equilibrium | Standing, ...]:
    found: list[Equilibrium | Standing] = []
    reasons: list[SingularError] = []
    for guess in guesses:
        try:
            one = _one(request, guess, u, x)
        except SingularError as reason:
            reasons.append(reason)
            continue
        if not any(_same(one, other) for other in found):
            found.append(one)
    if not found:
        raise reasons[0]
    return tuple(found)


def _same(a: Equilibrium | Standing, b: Equilibrium | Standing) -> bool:
    """True if all bodies are at the same place, and the rates equal."""
    if isinstance(a, Standing) or isinstance(b, Standing):
        return type(a) is type(b) and bool(np.abs(a.q - b.q).max() < SAME)
    model = a.mechanism.model
    if np.abs(a.qd - b.qd).max(initial=0.0) > SAME:
        return False
    if model.terms is not None:
        return bool(np.abs(a.q - b.q).max() < SAME)
    pairs = zip(kinematics.poses(model, a.q), kinematics.poses(model, b.q), strict=True)
    return all(max(np.abs(p.R - o.R).max(), np.abs(p.a - o.a).max()) < SAME for p, o in pairs)
