"""Loops eliminated along the tree: accelerations and projections in time proportional to the bodies.

The tree has more bodies, massless and without motion: two for the ends of each loop, and one where both ends have come
together, in front of the body on which the branches meet. See `formulations/closed_articulated.py`.

The file is long because it is one elimination: plan, rows and solves share the numbers of its nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import maximum
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Moved, pose_in, relative
from kinpair.constraints.rows.frames import Rod
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.formulations import closed_articulated, kinematics, newton_euler
from kinpair.formulations.closed_articulated import Loops
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model, Place
from kinpair.model.recursion import ByBody, Roles, each, others, total
from kinpair.pairs.fixed import Fixed
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import skew

MOST_COLUMNS = 36  # rows of loops that are open at one body; more make long code
MOST_KINDS = 120


@dataclass(frozen=True, slots=True)
class End:
    """One end of a loop: of the seat S or of the moved frame M; `key` says which loops have the same rows."""

    side: str
    key: Hashable
    start: int
    stop: int
    loop: Joined = field(compare=False)


@dataclass(frozen=True, slots=True)
class Closing:
    """Body at which a loop is eliminated."""

    start: int
    stop: int


class Plan(NamedTuple):
    """The tree with the ends of the loops: roles of its bodies, the other end of each end (0 elsewhere), and the number
    of columns."""

    model: Model
    roles: Roles
    others: list[int]
    columns: int


def row_key(x: Any) -> Hashable | None:
    """Key of what the rows of a loop depend on next to the poses of its ends; None where they are no rows of this
    kind."""
    if isinstance(x, LoopClosure):
        return (x.pair.kind, x.pair.closure, getattr(x.pair, "pitch", 0.0))
    if isinstance(x, Rod) and not x.moving:
        return ("rod", float(x.length))
    return None


def plan_of(model: Model) -> Plan:
    """The tree with its loops, made once."""
    return model.once("loops along the tree", lambda: _plan(model))


def plan_is(walked: Model, plan: Plan) -> None:
    """Give a model that is the longer tree of a plan already its plan."""
    walked.once("loops along the tree", lambda: plan)


@dataclass(slots=True)
class _Node:
    """A body of the longer tree."""

    parent: _Node | None
    body: Body
    number: int  # of the body in the model; −1 for those that are added
    role: Any = None
    children: list[_Node] = field(default_factory=list["_Node"])
    place: int = -1  # its number in the longer tree


def _plan(model: Model) -> Plan:
    nodes = [_Node(None, model.body[0], 0)]
    for i in model.moving:
        nodes.append(_Node(nodes[model.parent[i]], model.body[i], i))
        nodes[-1].parent.children.append(nodes[-1])  # type: ignore[union-attr]
    bodies: dict[bytes, Body] = {}
    ends: list[tuple[Joined, _Node, _Node]] = []
    for x in constraints_of(model):
        assert isinstance(x, Joined)
        S, M = (_leaf(nodes, place, bodies) for place in x.places(model))
        ends.append((x, S, M))
    closings = _close([_branches(S, M) for _, S, M in ends], bodies)
    every = _numbered(nodes[0])
    paths = [_path(S, closing) | _path(M, closing) for (_, S, M), closing in zip(ends, closings, strict=True)]
    starts = _columns([len(x.labels) for x, _, _ in ends], paths)
    for (x, S, M), start, closing in zip(ends, starts, closings, strict=True):
        stop = start + len(x.labels)
        closing.role = Closing(start, stop)
        S.role, M.role = (End(side, row_key(x), start, stop, x) for side in ("S", "M"))
    partner = [0] * len(every)
    for _, S, M in ends:
        partner[S.place], partner[M.place] = M.place, S.place
    columns = max((S.role.stop for _, S, _ in ends), default=0)
    return Plan(_longer(model, every), Roles(node.role for node in every), partner, columns)


def _leaf(nodes: list[_Node], place: Place, bodies: dict[bytes, Body]) -> _Node:
    """A massless body at a place of a body."""
    node = _Node(nodes[place.body], _massless(place.pose, bodies), -1)
    nodes[place.body].children.append(node)
    return node


def _massless(pose: Pose, bodies: dict[bytes, Body]) -> Body:
    """A body without mass that is welded to its parent; equal ones are one object."""
    R, a = np.array(pose.R, dtype=float), np.array(pose.a, dtype=float)
    zero, nothing = np.zeros(3), np.zeros((3, 3))
    make = Body(Fixed(), R, a, a, 0.0, zero, nothing, zero, nothing, np.zeros(0))
    return bodies.setdefault(R.tobytes() + a.tobytes(), make)


def _branches(S: _Node, M: _Node) -> tuple[_Node, ...]:
    """The children of the body on which both ends meet that carry an end."""
    inner: dict[int, _Node | None] = {}
    node, last = S, None
    while node is not None:
        inner[id(node)] = last
        node, last = node.parent, node
    node, last = M, None
    while id(node) not in inner:
        node, last = node.parent, node  # type: ignore[assignment]
    return tuple(x for x in (inner[id(node)], last) if x is not None)


def _path(end: _Node, closing: _Node) -> set[int]:
    """Numbers of the bodies from an end of a loop to where it is eliminated."""
    path, node = {closing.place}, end
    while node is not None and node is not closing:
        path.add(node.place)
        node = node.parent
    return path


def _columns(widths: Sequence[int], paths: Sequence[set[int]]) -> list[int]:
    """The first column of each loop: loops that are open at one body have different columns."""
    taken: dict[int, set[int]] = {}
    starts: list[int] = []
    for width, path in zip(widths, paths, strict=True):
        used = set[int]().union(*(taken.get(k, set()) for k in path))
        start = next(k for k in range(len(used) + width + 1) if not used & set(range(k, k + width)))
        starts.append(start)
        for k in path:
            taken.setdefault(k, set()).update(range(start, start + width))
    return starts


def _close(branches: Sequence[tuple[_Node, ...]], bodies: dict[bytes, Body]) -> list[_Node]:
    """Put one body in front of the branches of each loop; of loops that share a branch one in front of the other."""
    head: dict[int, _Node] = {}  # the body that was put in front of a branch

    def top(node: _Node) -> _Node:
        while id(node) in head:
            node = head[id(node)]
        return node

    closings: list[_Node] = []
    for own in branches:
        tops = list({id(x): x for x in map(top, own)}.values())
        meeting = tops[0].parent
        assert meeting is not None
        closing = _Node(meeting, _massless(HOME, bodies), -1, children=tops)
        kept = [x for x in meeting.children if not any(x is y for y in tops)]
        meeting.children[:] = [*kept, closing]
        for x in tops:
            x.parent = closing
            head[id(x)] = closing
        closings.append(closing)
    return closings


def _numbered(ground: _Node) -> list[_Node]:
    """All bodies, a parent before its children, a branch after the other."""
    every: list[_Node] = []
    stack = [ground]
    while stack:
        node = stack.pop()
        node.place = len(every)
        every.append(node)
        stack += reversed(node.children)
    return every


def _longer(model: Model, every: Sequence[_Node]) -> Model:
    """The model with the bodies that are added."""
    none = slice(0, 0)
    bodies = tuple(node.body for node in every)

    def own(values: Sequence[Any], other: Any) -> tuple[Any, ...]:
        return tuple(values[node.number] if node.number >= 0 else other for node in every)

    return replace(
        model,
        names=own(model.names, ""),
        joint_names=own(model.joint_names, ""),
        parent=tuple(node.parent.place if node.parent is not None else 0 for node in every),
        body=bodies,
        q_span=own(model.q_span, none),
        v_span=own(model.v_span, none),
        R_joint=own(model.R_joint, np.eye(3)),
        lean_body=lambda: bodies,
    )


# rows


def _spread(x: Any, role: End, columns: int) -> Any:
    """Entries of the rows of a loop in their columns, zero elsewhere."""
    if x.ndim == 1:
        return array([x[k - role.start] if role.start <= k < role.stop else 0.0 for k in range(columns)])
    return array([list(_spread(row, role, columns)) for row in x])


class _OfLoops:
    """Steps that make the rows of the loops; those of one plan have the same number of columns."""

    def __init__(self, columns: int, time: Scalar) -> None:
        self.columns, self.time = columns, time

    def K(self, body: Body, own: Pose, other: Pose, role: Any) -> Matrix:
        """Part of the rows that multiplies the twist of this end, as columns."""
        if not isinstance(role, End):
            return np.zeros((6, self.columns))
        P = pose_in(own, other) if role.side == "S" else pose_in(other, own)
        W = role.loop.wrenches(HOME, P, self.time).M
        if role.side == "M":
            rows = np.concatenate([W[:, :3] @ P.R, W[:, 3:] @ P.R], axis=1)
        else:
            rows = -np.concatenate([W[:, :3] - W[:, 3:] @ skew(P.a), W[:, 3:]], axis=1)
        return _spread(rows.T, role, self.columns)

    def phi(self, body: Body, own: Pose, other: Pose, role: Any) -> Vector:
        """φ, on one of the ends."""
        if not isinstance(role, End) or role.side == "S":
            return np.zeros(self.columns)
        return _spread(role.loop.phi(HOME, pose_in(other, own), self.time), role, self.columns)

    def psi_b(self, body: Body, own: Any, other: Any, role: Any) -> tuple[Vector, Vector]:
        """ψ and −b, on one of the ends; own, other: state of the body with its accelerations at q̈ = 0."""
        if not isinstance(role, End) or role.side == "S":
            return np.zeros(self.columns), np.zeros(self.columns)
        psi, b = role.loop.moved(relative(_moved(other), _moved(own)), self.time)
        return _spread(psi, role, self.columns), -_spread(b, role, self.columns)


def _moved(x: Any) -> Moved:
    (pose, omega, v), ((alpha, a), _) = x
    return Moved(pose, omega, v, alpha, a)


def _largest(body: Body, x: Vector) -> Scalar:
    result: Any = 0.0
    for y in x:
        result = maximum(result, np.abs(y))
    return result


class Rows(NamedTuple):
    """K, φ, ψ and −b of the loops by body."""

    K: ByBody
    phi: ByBody
    psi: ByBody
    minus_b: ByBody


def rows_of_loops(plan: Plan, model: Model, q: Vector, qd: Vector | None, time: Scalar) -> Rows:
    """Rows by body of the longer tree; without rates ψ and b are those of φ alone."""
    steps, roles, partner = _OfLoops(plan.columns, time), plan.roles, plan.others
    if qd is None:
        poses = kinematics.poses(model, q)
        other = others(model, poses, partner)
        K, phi = each(model, steps.K, poses, other, roles), each(model, steps.phi, poses, other, roles)
        return Rows(K, phi, phi, phi)
    states = kinematics.states(model, q, qd)
    biases = kinematics.turning_biases(model, q, qd, states)
    at, moves = others(model, states, partner), others(model, biases, partner)

    def pose(body: Body, x: Any) -> Pose:
        return x.pose

    own, other = each(model, pose, states), each(model, pose, at)
    both = (
        each(model, lambda body, x, y: (x, y), states, biases),
        each(model, lambda body, x, y: (x, y), at, moves),
    )
    psi_b = each(model, steps.psi_b, *both, roles)
    return Rows(
        each(model, steps.K, own, other, roles),
        each(model, steps.phi, own, other, roles),
        each(model, lambda body, x: x[0], psi_b),
        each(model, lambda body, x: x[1], psi_b),
    )


def longer(model: Model) -> tuple[Plan, Model]:
    """The plan of a model, and the tree with its loops: the model itself where a walker walks it."""
    plan = plan_of(model)
    return plan, model if model.walker else plan.model


def _solve(plan: Plan, model: Model, q: Vector, phi: Any, K: ByBody, l: ByBody) -> tuple[Any, Scalar]:
    closes = Roles(slice(x.start, x.stop) if isinstance(x, Closing) else None for x in plan.roles)
    return closed_articulated.solve(model, q, phi, Loops(K, l, closes, plan.columns))


class Closed(NamedTuple):
    """The solution, the smallest pivot of the loops, and the largest |φ|."""

    solution: Solution
    least: Scalar
    gap: Scalar


def accelerations(model: Model, q: Vector, qd: Vector, tau: Any, time: Scalar, alpha: float = 0.0) -> Closed:
    """q̈ with every loop, under the efforts tau, those of springs and dampers with them. With `alpha` [1/s] the rows are
    stabilised by (HD1)."""
    plan, tree = longer(model)
    x = rows_of_loops(plan, tree, q, qd, time)
    l = x.minus_b
    if alpha:
        l = each(tree, lambda body, l, psi, phi: l + 2.0 * alpha * psi + alpha * alpha * phi, l, x.psi, x.phi)
    h = newton_euler.inverse_dynamics(tree, q, qd, np.zeros(tree.nv), no_wrenches(tree))
    solution, least = _solve(plan, tree, q, tau - h, x.K, l)
    return Closed(solution, least, total(tree, _largest, 0.0, x.phi, combine=maximum, every=True))


def projected(model: Model, q: Vector, qd: Vector, time: Scalar) -> tuple[Any, Any, Scalar]:
    """q and q̇ brought back to the loops by (PR1) and (PR2), and the smallest pivot of the loops."""
    plan, tree = longer(model)
    x = rows_of_loops(plan, tree, q, None, time)
    step, _ = _solve(plan, tree, q, np.zeros(tree.nv), x.K, x.phi)  # (PR1)
    there = kinematics.nudged(tree, q, step.qdd)
    x = rows_of_loops(plan, tree, there, qd, time)
    change, least = _solve(plan, tree, there, np.zeros(tree.nv), x.K, x.psi)  # (PR2)
    return there, qd + change.qdd, least


def closer(model: Model, q: Vector, time: Scalar) -> tuple[Any, Scalar]:
    """The least step (nv,) that closes the loops to first order, as the sum of its squares measures it; and the largest
    |φ| before it."""
    plan, tree = longer(model)
    x = rows_of_loops(plan, tree, q, None, time)
    step, _ = _solve(plan, _even(tree), q, np.zeros(tree.nv), x.K, x.phi)
    return step.qdd, total(tree, _largest, 0.0, x.phi, combine=maximum, every=True)


def _even(tree: Model) -> Model:
    """The tree with massless bodies and a rotor of one on every rate: its mass matrix is the unit matrix."""
    which, chosen = tree.different
    zero, nothing = np.zeros(3), np.zeros((3, 3))
    bodies = [
        replace(x, m=0.0, d=zero, I=nothing, s=zero, J=nothing, rotor=np.ones(len(x.rotor)))
        for x in (tree.body[i] for i in chosen)
    ]
    return replace(tree, body=tuple(bodies[k] for k in which.tolist()))


def residuals(model: Model, q: Vector, qd: Vector, time: Scalar) -> list[Scalar]:
    """The largest of |φ| and of |ψ|."""
    plan, tree = longer(model)
    x = rows_of_loops(plan, tree, q, qd, time)
    return [total(tree, _largest, 0.0, y, combine=maximum, every=True) for y in (x.phi, x.psi)]


def obstacle(model: Model) -> str:
    """Reason why the loops cannot be eliminated along the tree; empty where they can."""
    constraints = constraints_of(model)
    if odd := next((x for x in constraints if row_key(x) is None), None):
        return f"{odd.kind} {odd.name!r} is no loop between two frames"
    plan = plan_of(model)
    kinds = len({(type(node.pair), role) for node, role in zip(plan.model.body, plan.roles, strict=True)})
    if plan.columns > MOST_COLUMNS:
        return (
            f"{plan.columns} rows of loops are open at one body, at most {MOST_COLUMNS} are eliminated in loops; "
            "choose joints and loop constraints such that each loop closes near to where it begins"
        )
    return f"its loops are of {kinds} kinds; at most {MOST_KINDS} are" if kinds > MOST_KINDS else ""
