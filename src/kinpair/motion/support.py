"""Support of a mechanism that stands on feet: zero-moment point and margins.

With the resultant [n_0; f] of the ground, see (GZ1), a point p of the ground and its normal e:

    n_p = n_0 − p × f                                                                                 (GZ2)
    z = p + e × n_p / (e·f)                        the zero-moment point (Vukobratović)               (GZ3)
    m = e·(n_0 − z × f)                            moment about the normal                            (GZ4)
    μ = |f − e(e·f)| / (e·f)                       friction demand                                    (GZ5)
    μ_i = √(|f_i − e(e·f_i)|² + (m_i/ρ)²)/(e·f_i)  the same of a foot, with the moment it has to give (GZ7)

Two feet share the resultant in more than one distribution. With K_i, how much foot i is to carry, and X_i, which
takes a wrench from the foot's point to the origin,

    w_i = K_i X_iᵀ (Σ_j X_j K_j X_jᵀ)⁻¹ [n_0; f]                                                       (GZ6)

has the least Σ w_iᵀK_i⁻¹w_i. K_i = stiffness of the soles is what elastic soles give; K_i = λ_i diag(ℓ², 1) lets foot i
take the load over as λ_i grows from 0. ρ: mean distance of the sole from its middle; (GZ7) is the ellipse that bounds
force and moment of a sole that slips (Howe & Cutkosky 1996).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from kinpair.errors import InputError, expect, listed
from kinpair.mechanism import Mechanism
from kinpair.motion import gait_pictures as pictures
from kinpair.motion.frame_motion import crossed
from kinpair.motion.polygon import hull, margin, plane_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH = 0.1  # [m]: a moment of 0.1 N m counts as much as a force of 1 N
GRID = 64  # points along each edge of a sole
SMALLEST = 1e-6  # [m]: of soles that are points
LIFTED = 1e-6  # [m]: a sole this far from the ground is not on it
LIGHT = 0.03  # of the whole load: a foot that gives less is coming or going, and its centre of pressure is not judged
PULLED = 1e-9  # of the whole load: less than this is rounding


class Ground(NamedTuple):
    """A plane: a point of it and its normal, both (3,), and the friction it offers."""

    point: Any = (0.0, 0.0, 0.0)
    normal: Any = (0.0, 0.0, 1.0)
    friction: float = 0.6


@final
@dataclass(frozen=True, eq=False)
class Support:
    """Support at n times: resultant (n, 6) of the ground about the world's origin, zero-moment point (n, 3), moment
    about the
    normal [N m], normal force [N], friction demand, the same of a foot with its moment (slip), and margin [m] (n,): the
    distance of the zero-moment point to the border of the support polygon, negative outside.

    wrenches: of the ground on each foot (n, 6), at the foot's origin in world axes. centres: their centres of pressure
    (n, 3), NaN where a foot carries nothing; margins of these in the foot's own sole (n,). polygons: corners (k, 2) in
    axes of the ground at each time.
    """

    time: np.ndarray
    ground: Ground
    resultant: np.ndarray
    zmp: np.ndarray
    moment: np.ndarray
    normal: np.ndarray
    friction: np.ndarray
    slip: np.ndarray
    margin: np.ndarray
    wrenches: Mapping[str, np.ndarray]
    centres: Mapping[str, np.ndarray]
    margins: Mapping[str, np.ndarray]
    polygons: tuple[np.ndarray, ...]

    @property
    def pulls(self) -> Mapping[str, np.ndarray]:
        """Force with which the ground would have to pull at each foot (n,) [N]; 0 where it presses."""
        least = PULLED * np.abs(self.normal)
        normals = {name: w[:, 3:] @ self.ground.normal for name, w in self.wrenches.items()}
        return {name: np.where(x < -least, -x, 0.0) for name, x in normals.items()}

    @property
    def excesses(self) -> tuple[str, ...]:
        """Excesses that no foot could give, in words: what, when, by how much; empty where the motion can be made."""
        rules = (
            ("the ground would have to pull", -self.normal, 0.0, "N"),
            *((f"the ground would have to pull at {name}", x, 0.0, "N") for name, x in self.pulls.items()),
            ("the zero-moment point leaves the support polygon", -self.margin, 0.0, "m"),
            ("force and moment of a foot exceed its friction", self.slip, self.ground.friction, ""),
            *(
                (f"the centre of pressure leaves {name}", -np.nan_to_num(x), 0.0, "m")
                for name, x in self.margins.items()
            ),
        )
        return tuple(x for rule in rules if (x := _excess(self.time, *rule)))

    @property
    def feasible(self) -> bool:
        """True if a real foot could give this."""
        return not self.excesses

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """The zero-moment point in the support polygon from above, and its margin over time [m], [s]."""
        return pictures.support_picture(self, path, title)

    def __str__(self) -> str:
        k, j = int(self.margin.argmin()), int(self.friction.argmax())
        lines = [
            f"margin of the zero-moment point: least {1e3 * self.margin[k]:.1f} mm at {self.time[k]:.4g} s",
            f"friction demand: most {self.friction[j]:.3f} at {self.time[j]:.4g} s, offered {self.ground.friction:g}",
            f"moment about the normal: up to {np.abs(self.moment).max():.3g} N m; with it the friction demand of a "
            f"foot is {self.slip.max():.3f}",
        ]
        return "\n".join([*lines, *(self.excesses or ("feasible: a foot on the ground can give all this",))])


def _excess(time: np.ndarray, what: str, value: np.ndarray, limit: float, unit: str) -> str:
    beyond = np.flatnonzero(value > limit)
    if not len(beyond):
        return ""
    k = int(value.argmax())
    by = f"{value[k] - limit:.4g}{f' {unit}' if unit else ''}"
    return f"{what} by {by} at {time[k]:.4g} s (between {time[beyond[0]]:.4g} and {time[beyond[-1]]:.4g} s)"


def support(
    m: Mechanism,
    q: Any,
    qd: Any,
    qdd: Any,
    feet: Mapping[str, Any],
    *,
    loads: Any = None,
    stiffness: Mapping[str, Any] | None = None,
    points: Mapping[str, Any] | None = None,
    wrenches: Mapping[str, Any] | None = None,
    ground: Ground | None = None,
    time: Any = None,
) -> Support:
    """Compute what the ground must give along a motion, q (n, nq), qd and qdd (n, nv), and whether feet can.

    feet: outline (k, 3) of the sole of each foot, in axes of the link or frame of that name. loads: how much each foot
    is to carry (n, feet), 0 where it is in the air; without it all soles that lie on the ground carry alike. stiffness:
    (6,) of the sole by foot [N m/rad], [N/m], in place of loads. points (n, 3): where a foot is to be pressed, its
    origin by default. wrenches (n, 6): what each foot gives, at its origin in world axes, where that is known.
    """
    expect("support", m, Mechanism)
    plane = _ground(ground)
    state = tuple(np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, qd, qdd))
    if not isinstance(feet, Mapping) or not feet:  # type: ignore[redundant-expr]
        raise InputError(
            "support: no feet; give the outline of one sole at least, {'left-foot': points (k, 3)}"
        )
    outlines = {name: _outline(m, name, x) for name, x in feet.items()}
    n = len(state[0])
    times = np.arange(n, dtype=float) if time is None else np.atleast_1d(np.asarray(time, dtype=float))
    soles = {name: _in_world(m, state[0], name, x) for name, x in outlines.items()}
    w = m.resultant(*state)
    e, p = plane.normal, plane.point
    known = {name: np.asarray(x, dtype=float) for name, x in (wrenches or {}).items()}
    if known:
        loads = np.stack([known[name][:, 3:] @ e > LIGHT * (w[:, 3:] @ e) for name in soles], axis=1)
    shares = _shares(plane, soles, loads, n)
    _check_carried(shares, times)
    n_p = w[:, :3] - crossed(p, w[:, 3:])  # (GZ2)
    normal = w[:, 3:] @ e
    zmp = p + crossed(e, n_p) / normal[:, None]  # (GZ3)
    moment = (w[:, :3] - crossed(zmp, w[:, 3:])) @ e  # (GZ4)
    across = w[:, 3:] - normal[:, None] * e
    friction = np.sqrt((across**2).sum(1)) / normal  # (GZ5)
    origins = {name: m.pose(state[0], name).position for name in feet}
    if known:
        middles = {name: _centre(plane, x, origins[name], shares[name]) for name, x in known.items()}
        points = {name: np.where(np.isnan(x), origins[name], x) for name, x in middles.items()}
    pressed = {name: np.broadcast_to((points or {}).get(name, x), x.shape) for name, x in origins.items()}
    at_points = {name: carried(x, origins[name], pressed[name]) for name, x in known.items()}
    at_points = at_points or shared(w, pressed, shares, stiffness)
    slip = np.max([_slip(e, at_points[x], shares[x], mean_distance(outlines[x])) for x in feet], axis=0)
    turned = plane_axes(plane.normal)
    flat = {name: (x - p) @ turned for name, x in soles.items()}
    polygons = tuple(
        hull(np.concatenate([x[k] for name, x in flat.items() if shares[name][k] > 0.0])) for k in range(n)
    )
    inside = np.array([margin(a, b) for a, b in zip(polygons, (zmp - p) @ turned, strict=True)])
    centres = {name: _centre(plane, x, pressed[name], shares[name]) for name, x in at_points.items()}
    margins = {name: _margins(flat[name], (x - p) @ turned) for name, x in centres.items()}
    at_feet = {name: carried(x, pressed[name], origins[name]) for name, x in at_points.items()}
    return Support(
        times, plane, w, zmp, moment, normal, friction, slip, inside, at_feet, centres, margins, polygons
    )


def _ground(given: Ground | None) -> Ground:
    plane = Ground() if given is None else given
    e = np.asarray(plane.normal, dtype=float)
    if e.shape != (3,) or not e.any():
        raise InputError(f"support: the normal of the ground is {plane.normal!r}; give three numbers")
    return Ground(np.asarray(plane.point, dtype=float), e / np.sqrt(e @ e), float(plane.friction))


def _outline(m: Mechanism, name: str, points: Any) -> np.ndarray:
    m.model.place(name)
    x = np.asarray(points, dtype=float)
    if x.ndim != 2 or x.shape[1] != 3 or len(x) < 1 or not np.isfinite(x).all():
        raise InputError(
            f"support: the outline of {name!r} has shape {x.shape}; give points (k, 3) of its sole"
        )
    return x


def _in_world(m: Mechanism, q: np.ndarray, name: str, outline: np.ndarray) -> np.ndarray:
    at = m.pose(q, name)
    return at.position[:, None] + np.einsum("nij,kj->nki", at.rotation, outline)


def _shares(plane: Ground, soles: Mapping[str, np.ndarray], loads: Any, n: int) -> dict[str, np.ndarray]:
    """Shares that each foot is to carry (n,); 0: in the air."""
    if loads is None:
        heights = {name: np.abs((x - plane.point) @ plane.normal).max(1) for name, x in soles.items()}
        return {name: (x <= LIFTED).astype(float) for name, x in heights.items()}
    x = np.atleast_2d(np.asarray(loads, dtype=float))
    if x.shape != (n, len(soles)) or not (x >= 0.0).all():
        raise InputError(
            f"support: loads has shape {x.shape}; give {n} rows with a number of zero or more for each of "
            f"{listed(soles)}"
        )
    return {name: x[:, k] for k, name in enumerate(soles)}


def _check_carried(shares: Mapping[str, np.ndarray], time: np.ndarray) -> None:
    alone = np.flatnonzero(sum(shares.values()) == 0.0)
    if len(alone):
        raise InputError(
            f"support: no foot is on the ground at {time[alone[0]]:.4g} s; feet: {listed(shares)}. Give loads, or "
            "outlines that lie on the ground"
        )


def shared(
    w: np.ndarray,
    pressed: Mapping[str, np.ndarray],
    shares: Mapping[str, np.ndarray],
    stiffness: Mapping[str, Any] | None = None,
) -> dict[str, np.ndarray]:
    """The wrench at the point of each foot (n, 6).    (GZ6)"""
    scales = {name: np.array([LENGTH**2] * 3 + [1.0] * 3) for name in shares}
    if stiffness is not None:
        scales = {name: np.asarray(stiffness[name], dtype=float) for name in shares}
        shares = {name: (x > 0.0).astype(float) for name, x in shares.items()}
    X = {name: _transport(x) for name, x in pressed.items()}
    K = {name: shares[name][:, None] * scales[name] for name in shares}
    total = sum(np.einsum("nij,nj,nkj->nik", X[name], K[name], X[name]) for name in shares)
    xi = np.linalg.solve(total, w[..., None])[..., 0]
    return {name: K[name] * np.einsum("nji,nj->ni", X[name], xi) for name in shares}  # (GZ6)


def _transport(p: np.ndarray) -> np.ndarray:
    """(n, 6, 6): a wrench at p, taken to the origin: [n + p × f; f]."""
    X = np.broadcast_to(np.eye(6), (len(p), 6, 6)).copy()
    X[:, :3, 3:] = np.cross(p[:, None], np.eye(3)[None]).swapaxes(1, 2)
    return X


def carried(w: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A wrench at one point, taken to another."""
    return np.concatenate([w[:, :3] + crossed(start - end, w[:, 3:]), w[:, 3:]], axis=1)


def _centre(plane: Ground, w: np.ndarray, at: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Point where the wrench at a point of the ground presses, by (GZ3); NaN where it does not."""
    e, normal = plane.normal, w[:, 3:] @ plane.normal
    foot = at - ((at - plane.point) @ e)[:, None] * e
    n_p = w[:, :3] - crossed(foot - at, w[:, 3:])
    safe = np.where(share > 0.0, normal, 1.0)[:, None]
    return np.where((share > 0.0)[:, None], foot + crossed(e, n_p) / safe, np.nan)


def _slip(e: np.ndarray, w: np.ndarray, share: np.ndarray, radius: float) -> np.ndarray:
    """Friction that a foot needs for the force and the moment along the normal at its point; 0 in the air.    (GZ7)"""
    normal = np.where(share > 0.0, w[:, 3:] @ e, 1.0)
    across = w[:, 3:] - (w[:, 3:] @ e)[:, None] * e
    demand = np.sqrt((across**2).sum(1) + (w[:, :3] @ e / radius) ** 2) / normal  # (GZ7)
    return np.where(share > 0.0, demand, 0.0)


def mean_distance(outline: np.ndarray) -> float:
    """ρ: mean distance of a sole from its middle, as of a pressure that is the same everywhere."""
    corners = hull(outline[:, :2])
    middle = corners.mean(0)
    steps = (np.arange(GRID) + 0.5) / GRID
    parts, areas = [], []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = a + steps[:, None] * (b - a) - middle
        parts.append(
            2 / 3 * np.sqrt((along**2).sum(1)).mean()
        )  # over a triangle the distance grows from its tip
        areas.append(abs((a - middle)[0] * (b - middle)[1] - (a - middle)[1] * (b - middle)[0]))
    return float(max(np.average(parts, weights=areas), SMALLEST)) if sum(areas) else SMALLEST


def _margins(sole: np.ndarray, centre: np.ndarray) -> np.ndarray:
    pairs = zip(sole, centre, strict=True)
    return np.array([margin(hull(a), b) if np.isfinite(b).all() else np.nan for a, b in pairs])
