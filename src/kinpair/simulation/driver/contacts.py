"""Contact where a run stands: impacts of points that close, and phases of points that stay closed.

    impact   u⁺ = D Λ + u⁻,   c = u⁺ + e min(u⁻, 0),   then rates v⁺ = v⁻ + G Jᵀ Λ                             (CN14)
    phases   c = D λ + J q̈₀ + J̇q̇ over points that are closed and do not separate                             (CN15)

Both are the problem of `constraints/solve/problem.py`. A ball that bounces lower and lower comes to rest at the time

    t + 2 u⁺/(a (1 − e)),   a: what presses it down                                                          (CN16)

and is taken to rest where its next bounce is lower than `LOW`. Where (CN15) has no solution, the rates jump: an impact
without collision (Painlevé). If an impulse with e = 0 changes nothing either, the contact is jammed.

The file is long because it is one decision: an impact and the phases after it are found together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinpair.constraints.solve.problem import Disc, Group, Interval, Solution, solve
from kinpair.constraints.solve.stick import response
from kinpair.contact.records import SLOTS
from kinpair.contact.search import Search
from kinpair.formulations import kinematics
from kinpair.simulation.contact.between import DIRECTION, FORCE, PHASE, RESTS, SLIDES, SLOT
from kinpair.simulation.contact.numbers import ACTIVE, SUMS
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.held_contact import held_contact
from kinpair.simulation.rounding import SLOW
from kinpair.simulation.status import Status

NEAR = 1e-9  # [m]: a gap this small is closed
STILL = 1e-9  # [m/s]: a velocity this small is zero
LOW = 1e-9  # [m]: a bounce lower than this is the last one
FINE = 1e-10  # relative: signs of accelerations, growth of energy
HALVINGS = 50  # of the interval of β
INSIDE = 0.5, 0.9, 0.99, 0.999  # parts of the static coefficient that may do as well
AGAIN = 20  # impacts and phases after one another at one instant


@dataclass(frozen=True, eq=False)
class Touching:
    """Points near to closed at a state: slots, axes (m, 3, 3), gaps, rows J (3 m, nv), relative velocities (m, 3),
    J q̈₀ + J̇q̇ (m, 3), materials (m, 3), efforts of friction of joints (m, 4); G (nv, nv), M (nv, nv).

    A limit of a joint has a normal alone, dry friction of a joint a tangent alone, and efforts that are numbers.
    """

    slots: list[int]
    axes: np.ndarray
    gaps: np.ndarray
    J: np.ndarray
    u: np.ndarray
    c: np.ndarray
    materials: np.ndarray
    efforts: np.ndarray
    G: np.ndarray
    M: np.ndarray

    def is_rough(self, k: int) -> bool:
        """True if k is dry friction of a joint."""
        return not np.isnan(self.efforts[k, 0])

    def some(self, chosen: Sequence[int]) -> Touching:
        """Return some of the points."""
        rows = [3 * k + r for k in chosen for r in range(3)]
        some = list(chosen)
        return Touching(
            [self.slots[k] for k in some],
            self.axes[some],
            self.gaps[some],
            self.J[rows],
            self.u[some],
            self.c[some],
            self.materials[some],
            self.efforts[some],
            self.G,
            self.M,
        )


def look(ongoing: Ongoing, y: np.ndarray) -> Touching:
    """Return the points that are closed at a state (ny,)."""
    d, run, stepper = ongoing.run.d, ongoing.run, ongoing.stepper
    own = d.concrete(run.inputs.parameters)
    assert d.touching is not None
    u = ongoing.inputs(stepper.time, y, stepper.u)
    terms = held_contact(d).terms(run.inputs.parameters, stepper.time, y, u)
    search: Search = d.model.once("contact search", lambda: Search(d.model))
    count, found = search(terms.R, terms.P, NEAR)
    chosen = range(count)
    slots = [int(found.slot[k]) for k in chosen]
    data, limits = d.touching.data, d.touching.limits
    axes = np.array([found.frame[k].reshape(3, 3) for k in chosen]).reshape(-1, 3, 3)
    rows = list[np.ndarray]()
    for k in chosen:
        pair = int(found.pair[k])
        a, b = int(data.body[data.first[pair]]), int(data.body[data.second[pair]])
        J = terms.jacobian(a, found.point[k]) - terms.jacobian(b, found.point[k])
        rows.append(axes[k] @ J)
    bias = [terms.bias(found, k) for k in chosen]
    materials = [[x[int(found.pair[k])] for x in (data.mu, data.mu_static, data.restitution)] for k in chosen]
    gaps, efforts = found.gap[:count].tolist(), [np.full(4, np.nan)] * count
    units = np.eye(own.model.nv)
    closed = [n for n, limit in enumerate(limits) if terms.gaps[n] <= limit.near]
    joints = [(n, limits[n].side * units[limits[n].v], 0) for n in closed]
    joints += [(len(limits) + n, units[v], 1) for n, v in enumerate(d.rough_rates)]
    for n, row, place in joints:
        slots.append(d.touching.first_slot + n)
        rows.append(np.outer(np.eye(3)[place], row))
        bias.append(np.zeros(3))
        effort = terms.efforts[:, n - len(limits)] if place else np.full(4, np.nan)
        level, static = np.ptp(effort[2:]), np.ptp(effort[:2])
        materials.append([1.0, 2.0, 0.0] if static > level else [float(level > 0.0)] * 2 + [0.0])
        if not place:
            materials[-1] = [0.0, 0.0, limits[n].restitution]
        gaps.append(0.0 if place else terms.gaps[n])
        efforts.append(effort)
    axes = np.concatenate([axes, [np.eye(3)] * len(joints)]) if joints else axes
    J, bias = np.vstack([np.zeros((0, own.model.nv)), *rows]), np.array(bias).reshape(-1, 3)
    G = response(terms.M, terms.A)
    return Touching(
        slots,
        axes,
        np.array(gaps),
        J,
        (J @ terms.qd).reshape(-1, 3),
        (J @ terms.free).reshape(-1, 3) + bias,
        np.array(materials).reshape(-1, 3),
        np.array(efforts).reshape(-1, 4),
        G,
        terms.M,
    )


def decide(ongoing: Ongoing) -> None:
    """Compute impacts and phases of contact where the run stands, and go on from there."""
    if ongoing.run.d.touching is None:
        return
    before = ongoing.stepper.y
    y, waited = before.copy(), False
    x = look(ongoing, y)
    for _ in range(AGAIN):
        if _strikes(x):
            y = _impact(ongoing, x, y)
            x = look(ongoing, y)
            continue
        closed = [k for k in range(len(x.slots)) if x.u[k, 0] <= STILL]
        stays = x.some(closed)
        stopped = _stopped(ongoing, stays)
        result = _phases(stays, stopped, *_since(ongoing, stays))
        if result is not None:
            y = _lifted(ongoing, x, stays, result, stopped, y)
            _enter(ongoing, stays, result, before, y)
            return
        if waited:
            break
        waited = True
        y = _without_collision(ongoing, stays, y)
        x = look(ongoing, y)
    time = ongoing.stepper.time
    names = ", ".join(dict.fromkeys(_pair_name(ongoing, slot) for slot in x.slots))
    raise EndError(
        Status(
            "jammed",
            time,
            f"Stopped at t = {time:.9g} s: contact {names} has no forces that satisfy Coulomb's law",
        )
    )


def _strikes(x: Touching) -> bool:
    return bool((x.u[:, 0] < -STILL).any())


def _groups(
    x: Touching, coefficient: int, sliding: dict[int, np.ndarray], impulse: bool = False
) -> list[Group]:
    """Return the groups of all points: a normal, and a disc that slides in a direction, or rests; friction of
    joints has no impulse."""
    groups = list[Group]()
    for k in range(len(x.slots)):
        if x.is_rough(k):
            rest_lo, rest_hi, forward, backward = x.efforts[k] * (not impulse)
            ends = rest_lo, rest_hi
            if k in sliding:
                ends = (forward, forward) if sliding[k][0] > 0.0 else (backward, backward)
            groups += [Interval(3 * k, 0.0, 0.0), Interval(3 * k + 1, *ends), Interval(3 * k + 2, 0.0, 0.0)]
            continue
        groups.append(Interval(3 * k, name=str(k)))
        way = sliding.get(k)
        mu = float(x.materials[k, 0 if way is not None else coefficient])
        groups.append(
            Disc(
                (3 * k + 1, 3 * k + 2),
                mu=mu,
                normal=3 * k,
                direction=None if way is None or not way.any() else (float(way[0]), float(way[1])),
            )
        )
    return groups


def _impact(ongoing: Ongoing, x: Touching, y: np.ndarray) -> np.ndarray:
    """Compute the rates after an impact of all points that are closed.    (CN14)"""
    layout, D = ongoing.active.d.layout, x.J @ x.G @ x.J.T
    before, normal = y[layout.qd].copy(), x.u[:, 0]

    def after(beta: float) -> tuple[np.ndarray, float]:
        e = beta * x.materials[:, 2] * np.minimum(normal, 0.0)
        g = x.u.copy()
        g[:, 0] += e
        impulse = solve(D, g.ravel(), _groups(x, 0, {}, impulse=True)).x
        qd = before + x.G @ x.J.T @ impulse
        return qd, 0.5 * float(qd @ x.M @ qd - before @ x.M @ before)

    beta, (qd, gained) = 1.0, after(1.0)
    if gained > FINE * 0.5 * float(before @ x.M @ before):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            beta = 0.5 * (low + high)
            low, high = (beta, high) if after(beta)[1] <= 0.0 else (low, beta)
        beta = low
        qd, gained = after(beta)
    qd, rest = _rested(ongoing, x, before, qd)
    gained = 0.5 * float(qd @ x.M @ qd - before @ x.M @ before)
    y = y.copy()
    y[layout.qd] = qd
    y[layout.loss] += max(-gained, 0.0)
    y[layout.contact.start] += max(-gained, 0.0)
    struck = [_name(ongoing, x.slots[k], "lands") for k in range(len(x.slots)) if normal[k] < -STILL]
    for name in dict.fromkeys(struck):
        _note(ongoing, y, name, before, max(-gained, 0.0), beta)
        gained = 0.0
    for name, time in {name: time for time, name in rest}.items():
        _note(ongoing, y, name, qd, 0.0, time=time)
    return y


def _rested(
    ongoing: Ongoing, x: Touching, before: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, list[tuple[float, str]]]:
    """Return the rates with points at rest whose next bounce is below `LOW`, and when they come to rest.    (CN16)"""
    u = (x.J @ qd).reshape(-1, 3)[:, 0]
    least, ends = STILL, list[tuple[float, str]]()
    for k in range(len(x.slots)):
        a, e = -float(x.c[k, 0]), float(x.materials[k, 2])
        if not (u[k] > STILL and a > 0.0 and u[k] ** 2 <= 2.0 * a * LOW):
            continue
        least = max(least, float(u[k]))
        if x.u[k, 0] < 0.0 and 0.0 < e < 1.0:
            last = 2.0 * u[k] / (a * (1.0 - e))
            ends.append((ongoing.stepper.time + last, _name(ongoing, x.slots[k], "comes to rest")))
    rests = x.some([k for k in range(len(x.slots)) if u[k] <= least])
    return qd + _least(x.G, rests.J[::3], -(rests.J @ qd)[::3]), ends


@dataclass(frozen=True, eq=False)
class Phases:
    """Points that stay closed: phase, direction of sliding in the tangents (m, 2), multipliers (m, 3)."""

    chosen: list[int]
    phase: list[float]
    way: np.ndarray
    force: np.ndarray


def _stopped(ongoing: Ongoing, x: Touching) -> list[int]:
    """Return the points that slid in a direction up to here and do no more, with all others as slow as they are: what
    is left of their velocities is the error of steps, and has no direction."""
    ways = {int(e[SLOT]) - 1: e[DIRECTION : DIRECTION + 3] for e in _active(ongoing) if e[PHASE] == SLIDES}
    s = np.einsum("kt,ktw->kw", x.u[:, 1:], x.axes[:, 1:])
    slow = np.flatnonzero(np.linalg.norm(s, axis=1) <= SLOW).tolist()
    ended = any(slot in ways and k in slow and s[k] @ ways[slot] <= STILL for k, slot in enumerate(x.slots))
    return slow if ended else []


def _active(ongoing: Ongoing) -> np.ndarray:
    """Return the points that were closed since the last event, with their forces there (points, ACTIVE)."""
    return ongoing.stepper.y[ongoing.active.d.layout.contact][SUMS:].reshape(-1, ACTIVE)


def _since(ongoing: Ongoing, x: Touching) -> tuple[list[int], list[int]]:
    """Return the points that push, and those that rest, since the last event.

    Where the force of one reaches the bound of its phase, the acceleration beyond is still zero. It leaves the phase
    nevertheless: without a force it lifts, with the largest friction it slides.
    """
    active = {int(e[SLOT]) - 1: e for e in _active(ongoing) if e[SLOT] > 0.0}
    known = [(k, active[slot]) for k, slot in enumerate(x.slots) if slot in active]
    pushed = [k for k, e in known if e[FORCE : FORCE + 3] @ x.axes[k, 0] > 0.0]
    return pushed, [k for k, e in known if e[PHASE] == RESTS]


def _at_edge(x: Touching, force: np.ndarray, k: int) -> np.ndarray:
    """Return the direction (2,) in which a point at rest begins to slide, zero unless its friction is the largest."""
    if x.is_rough(k):
        low, high = x.efforts[k, :2]
        room = FINE * (high - low)
        return np.array([float(force[1] <= low + room) - float(force[1] >= high - room), 0.0])
    size = float(np.linalg.norm(force[1:]))
    return -force[1:] / size if size >= (1.0 - FINE) * x.materials[k, 1] * force[0] > 0.0 else np.zeros(2)


def _phases(
    x: Touching, stopped: Sequence[int], pushed: Sequence[int], rested: Sequence[int]
) -> Phases | None:
    """Decide which points stay closed, rest and slide, those of `stopped` from rest; None where no forces satisfy the
    laws. `pushed`, `rested`: see `_since`.    (CN15)"""
    m = len(x.slots)
    if not m:
        return Phases([], [], np.zeros((0, 2)), np.zeros((0, 3)))
    D, g = x.J @ x.G @ x.J.T, x.c.ravel()
    speed = np.sqrt((x.u[:, 1:] ** 2).sum(axis=1))
    sliding = {k: x.u[k, 1:] / speed[k] for k in range(m) if speed[k] > STILL and k not in stopped}
    solution, small = Solution(np.zeros(3 * m), g, 0.0, True), np.zeros(m)
    for _ in range(m + 1):
        solution = solve(D, g, _groups(x, 1, sliding))
        if not solution.met:
            return None
        small = FINE * (np.abs(D) @ np.abs(solution.x) + np.abs(g)).reshape(-1, 3).max(axis=1)
        solution = _inside(x, solution, sliding, small)
        c, force = solution.c.reshape(-1, 3), solution.x.reshape(-1, 3)
        moves = {
            k: c[k, 1:] / np.linalg.norm(c[k, 1:])
            for k in range(m)
            if k not in sliding and np.linalg.norm(c[k, 1:]) > small[k] and x.materials[k, 0] > 0.0
        }
        edges = {k: _at_edge(x, force[k], k) for k in rested if k not in sliding and k not in moves}
        moves |= {k: way for k, way in edges.items() if way.any()}
        changes = [k for k in moves if x.materials[k, 1] > x.materials[k, 0]]
        sliding |= moves
        if not changes:
            break
    c, force = solution.c.reshape(-1, 3), solution.x.reshape(-1, 3)
    chosen = [k for k in range(m) if force[k, 0] > 0.0 or (c[k, 0] <= small[k] and k not in pushed)]
    way = np.array([sliding.get(k, np.zeros(2)) for k in chosen]).reshape(-1, 2)
    phase = [SLIDES if k in sliding or x.materials[k, 1] == 0.0 else RESTS for k in chosen]
    return Phases(chosen, phase, way, force[chosen])


def _inside(x: Touching, solution: Solution, sliding: dict[int, np.ndarray], small: np.ndarray) -> Solution:
    """Return a solution with the forces of points at rest inside their cones, where forces are not unique and one is
    at the edge: it would leave rest at once."""
    rests = [k for k in range(len(x.slots)) if k not in sliding and not x.is_rough(k)]
    tangent, normal = np.linalg.norm(solution.x.reshape(-1, 3)[:, 1:], axis=1), solution.x[::3]
    if not any(tangent[k] >= (1.0 - FINE) * x.materials[k, 1] * normal[k] > 0.0 for k in rests):
        return solution
    D, g = x.J @ x.G @ x.J.T, x.c.ravel()
    for part in INSIDE:
        narrow = replace(x, materials=x.materials * [1.0, part, 1.0])
        inner = solve(D, g, _groups(narrow, 1, sliding))
        c = inner.c.reshape(-1, 3)
        if inner.met and all(np.linalg.norm(c[k, 1:]) <= small[k] for k in rests):
            return inner
    return solution


def _lifted(
    ongoing: Ongoing, x: Touching, stays: Touching, result: Phases, stopped: Sequence[int], y: np.ndarray
) -> np.ndarray:
    """Return the state with gaps of points that stay closed or overlap taken to zero by the least displacement, and
    with the rates of points that stay closed, and along the tangents of those that rest or stopped, taken to zero."""
    d, y = ongoing.active.d, y.copy()
    q, qd = d.layout.q, d.layout.qd
    overlapping = x.some([k for k in range(len(x.slots)) if x.gaps[k] < 0.0 or x.slots[k] in stays.slots])
    y[q] = kinematics.nudged(d.model, y[q], _least(x.G, overlapping.J[::3], -overlapping.gaps))
    rests = [k for k, phase in zip(result.chosen, result.phase, strict=True) if phase == RESTS]
    at_rest = sorted({*rests, *stopped})
    still = [3 * k for k in range(len(stays.slots))] + [3 * k + r for k in at_rest for r in (1, 2)]
    y[qd] += _least(x.G, stays.J[still], -stays.u.ravel()[still])
    return y


def _least(G: np.ndarray, N: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return the least displacement (nv,), weighted by mass, with N displacement = change."""
    if not len(N):
        return np.zeros(len(G))
    return G @ N.T @ np.linalg.lstsq(N @ G @ N.T, change, rcond=1e-10)[0]


def _without_collision(ongoing: Ongoing, x: Touching, y: np.ndarray) -> np.ndarray:
    """Compute a jump of the rates where no forces satisfy the laws: an impulse with e = 0 on points that are closed."""
    layout = ongoing.active.d.layout
    before = y[layout.qd].copy()
    D = x.J @ x.G @ x.J.T
    starts = [
        np.zeros(len(D)),
        *(np.eye(len(D))[3 * k] / max(D[3 * k, 3 * k], 1e-300) for k in range(len(x.slots))),
    ]
    for start in starts:
        impulse = solve(D, x.u.ravel(), _groups(x, 0, {}, impulse=True), start=start)
        if impulse.met and np.abs(impulse.x).max(initial=0.0) > STILL:
            break
    else:
        return _slipped(ongoing, x, y)
    return _jumped(ongoing, x, y, before + x.G @ x.J.T @ impulse.x)


def _slipped(ongoing: Ongoing, x: Touching, y: np.ndarray) -> np.ndarray:
    """Compute the jump of points that slide into a surface they press on ever harder: sliding stops at once."""
    layout = ongoing.active.d.layout
    before = y[layout.qd].copy()
    T = x.J[[3 * k + r for k in range(len(x.slots)) if not x.is_rough(k) for r in range(3)]]
    qd = before - x.G @ T.T @ np.linalg.lstsq(T @ x.G @ T.T, T @ before, rcond=1e-10)[0]
    return _jumped(ongoing, x, y, qd)


def _jumped(ongoing: Ongoing, x: Touching, y: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return the state with other rates after an impact without collision, if it loses energy and changes rates."""
    layout = ongoing.active.d.layout
    before = y[layout.qd].copy()
    gained = 0.5 * float(qd @ x.M @ qd - before @ x.M @ before)
    if np.abs(qd - before).max() <= STILL or gained > FINE * 0.5 * float(before @ x.M @ before):
        return y
    y = y.copy()
    y[layout.qd] = qd
    y[layout.loss] += max(-gained, 0.0)
    y[layout.contact.start] += max(-gained, 0.0)
    for name in dict.fromkeys(_pair_name(ongoing, slot) for slot in x.slots):
        _note(ongoing, y, f"impact without collision of {name}", before, max(-gained, 0.0))
        gained = 0.0
    return y


def _enter(ongoing: Ongoing, x: Touching, result: Phases, before: np.ndarray, y: np.ndarray) -> None:
    """Write the closed points into the state, note what has changed, and go on."""
    layout, d = ongoing.active.d.layout, ongoing.run.d
    assert d.touching is not None
    entries = np.zeros((d.places, ACTIVE))
    if sum(x.slots[k] < d.touching.first_slot for k in result.chosen) > d.touching.data.max_contacts:
        time = ongoing.stepper.time
        message = f"Stopped at t = {time:.9g} s: more contact points than max_contacts; give a larger one"
        raise EndError(Status("full", time, message))
    for n, k in enumerate(result.chosen):
        entries[n, SLOT], entries[n, PHASE] = x.slots[k] + 1, result.phase[n]
        entries[n, DIRECTION : DIRECTION + 3] = result.way[n] @ x.axes[k, 1:]
        entries[n, FORCE : FORCE + 3] = result.force[n] @ x.axes[k]
    old = before[layout.contact][SUMS:].reshape(-1, ACTIVE)
    y[layout.contact.start + SUMS : layout.contact.stop] = entries.ravel()
    if ongoing.stepper.time > ongoing.run.time:
        _note_phases(ongoing, y, old, entries)
    ongoing.stepper.put(y, ongoing.active.stage)


def _note_phases(ongoing: Ongoing, y: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
    """Note points that lift, stick and slide, by pair."""
    was, now = ({int(e[SLOT]) - 1: e[PHASE] for e in x if e[SLOT] > 0.0} for x in (old, new))
    changed = {slot: "lifts" for slot in was if slot not in now}
    changed |= {
        slot: "sticks" if phase == RESTS else "slides"
        for slot, phase in now.items()
        if was.get(slot) not in (None, phase)
    }
    for name in dict.fromkeys(_name(ongoing, slot, word) for slot, word in changed.items()):
        _note(ongoing, y, name, y[ongoing.active.d.layout.qd], 0.0)


def _name(ongoing: Ongoing, slot: int, word: str) -> str:
    """Return the name of an event of a contact point, a limit or dry friction of a joint."""
    d = ongoing.run.d
    assert d.touching is not None
    n, limits = slot - d.touching.first_slot, d.touching.limits
    if 0 <= n < len(limits) and word in ("lands", "lifts"):
        return limits[n].label if word == "lands" else limits[n].leaving
    return f"{_pair_name(ongoing, slot)} {word}"


def _pair_name(ongoing: Ongoing, slot: int) -> str:
    d = ongoing.run.d
    assert d.touching is not None
    data, n, limits = d.touching.data, slot - d.touching.first_slot, d.touching.limits
    if n >= 0:
        return limits[n].label if n < len(limits) else d.model.v_names[d.rough_rates[n - len(limits)]]
    pair = slot // SLOTS
    return f"{data.names[data.first[pair]]} on {data.names[data.second[pair]]}"


def _note(
    ongoing: Ongoing,
    y: np.ndarray,
    name: str,
    before: np.ndarray,
    lost: float,
    beta: float = 1.0,
    time: float | None = None,
) -> None:
    """Log an event of contact: the state (ny,) behind it, and the rates before it."""
    layout, at = ongoing.active.d.layout, float(ongoing.stepper.time) if time is None else time
    state = y[layout.q].copy(), y[layout.qd].copy()
    ongoing.run.event_log.append(EventRecord(at, name, *state, before.copy(), lost, beta))
