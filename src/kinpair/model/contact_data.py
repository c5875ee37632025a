"""Geoms and pairs of geoms as arrays: which may touch, and what friction and restitution they have.

Two geoms may touch if their bodies move relative to each other, are not neighbours (parent and child, massless bodies
between them not counted; the ground has no neighbours), are not excluded, and if `contype` of one has a bit of
`conaffinity` of the other. A pair that is written out touches in any case.

Convex hulls of meshes and points, for contact: vertices, faces, thickness; what a mesh differs from its hull in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from kinpair.description.contact_shapes import HULL, PLANE, SHAPES, SPHERE
from kinpair.description.mesh_file import read_mesh
from kinpair.description.parts import GROUND, Contact, Description, Surface
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.model.contact_pads import PadData, pads, softness
from kinpair.model.gathering import frozen
from kinpair.model.model import Body, Place
from kinpair.spatial.pose import Pose

OPEN = 1e-3  # sum of the areas of triangles as vectors, of the sum of their sizes
HOLLOW = 1e-2  # volume that the hull adds, of its own volume
SAME_FACE = 9  # digits of normals and distances of triangles that are one face


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """Vertices (n, 3), faces (m, 4) as n·x + e ≤ 0, and the smallest width between parallel planes of a face."""

    vertices: np.ndarray
    faces: np.ndarray
    thickness: float


def hull_of(geom: Contact, warnings: WarningList) -> Hull:
    """Return the hull of the mesh or points of a geom; a mesh that is not closed or convex is reported."""
    part = f"{at(geom.where)}contact {geom.name!r}"
    if geom.shape == "hull":
        return _hull(np.array(geom.size).reshape(-1, 3), part)
    triangles = read_mesh(geom.mesh).corners * np.array(geom.size)
    hull = _hull(triangles.reshape(-1, 3), part)
    if not geom.convex and (reason := _difference(triangles, hull)):
        warnings.add(f"{part}: the mesh {geom.mesh!r} {reason}; its convex hull touches", contact=geom.name)
    return hull


def _hull(points: np.ndarray, part: str) -> Hull:
    from scipy.spatial import ConvexHull, QhullError

    try:
        convex = ConvexHull(points)
    except (QhullError, ValueError):
        raise DescriptionError(
            f"{part}: its {len(points)} points enclose no volume; give four or more"
        ) from None
    vertices = points[convex.vertices]
    _, first = np.unique(convex.equations.round(SAME_FACE), axis=0, return_index=True)
    faces = convex.equations[np.sort(first)]
    widths = -(vertices @ faces[:, :3].T + faces[:, 3]).min(axis=0)
    return Hull(np.ascontiguousarray(vertices), np.ascontiguousarray(faces), float(widths.min()))


def _difference(triangles: np.ndarray, hull: Hull) -> str:
    """Return how a mesh differs from its hull; empty where it does not."""
    areas = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) / 2
    if np.linalg.norm(areas.sum(axis=0)) > OPEN * np.linalg.norm(areas, axis=1).sum():
        return "is not closed"
    middle = hull.vertices.mean(axis=0)
    volume = abs(float(((triangles[:, 0] - middle) * areas).sum())) / 3
    from scipy.spatial import ConvexHull

    whole = float(ConvexHull(hull.vertices).volume)
    return "is not convex" if whole - volume > HOLLOW * whole else ""


PER_GEOM = 4  # contact points for each geom, where max_contacts is not given


class Shapes(NamedTuple):
    """Sizes (geoms, 5), vertices (all hulls, 3) and faces (all hulls, 4)."""

    size: np.ndarray
    vertices: np.ndarray
    faces: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class ContactData:
    """Geoms and pairs of a model, arrays read-only; a pair has kind[first] ≤ kind[second], pairs with planes first."""

    names: tuple[str, ...]  # of the geoms
    body: np.ndarray  # (geoms,) integers
    kind: np.ndarray  # (geoms,) integers
    R: np.ndarray  # (geoms, 9)
    p: np.ndarray  # (geoms, 3)
    shapes: Callable[[], Shapes]  # hulls of meshes are made when they are first needed
    first: np.ndarray  # (pairs,) integers: geom a
    second: np.ndarray  # (pairs,) integers: geom b
    mu: np.ndarray  # (pairs,)
    mu_static: np.ndarray  # (pairs,)
    restitution: np.ndarray  # (pairs,)
    torsional: np.ndarray  # (pairs,) [m]
    rolling: np.ndarray  # (pairs,) [m]
    max_contacts: int
    pads: tuple[PadData, ...] = ()  # compliant pairs, which are not among the pairs above

    @property
    def size(self) -> np.ndarray:
        """Sizes (geoms, 5), see `kinpair.contact.records`."""
        return self.shapes().size

    @property
    def vertices(self) -> np.ndarray:
        """Vertices (all hulls, 3) in axes of their geoms."""
        return self.shapes().vertices

    @property
    def faces(self) -> np.ndarray:
        """Faces (all hulls, 4) in axes of their geoms."""
        return self.shapes().faces

    @property
    def planes(self) -> int:
        """Number of pairs with a plane."""
        return int(np.count_nonzero(self.kind[self.second] == PLANE)) if len(self.second) else 0


def check_contacts(description: Description) -> None:
    """Refuse names that do not exist and geoms of one name."""
    places = dict.fromkeys([GROUND, *(x.name for x in (*description.links, *description.frames))])
    geoms: dict[str, Contact] = {}
    for geom in description.contacts.geoms:
        if geom.name in geoms:
            raise DescriptionError(
                f"{at(geom.where)}contact {geom.name!r} exists already; give one of them another name",
                contact=geom.name,
            )
        geoms[geom.name] = geom
        _check_name(f"contact {geom.name!r}", geom, "link", geom.link, places, "Links and frames")
    for pair in description.contacts.pairs:
        label = f"contact_pair {' and '.join(map(repr, pair.geoms))}"
        for name in pair.geoms:
            _check_name(label, pair, "geoms", name, geoms, "Geoms")
        if pair.geoms[0] == pair.geoms[1]:
            raise DescriptionError(f"{at(pair.where)}{label}: give two different geoms")
    for exclusion in description.contacts.exclusions:
        label = f"contact_exclude {' and '.join(map(repr, exclusion.links))}"
        for name in exclusion.links:
            _check_name(label, exclusion, "links", name, places, "Links and frames")


def _check_name(label: str, part: Any, key: str, name: str, known: Mapping[str, Any], words: str) -> None:
    if name not in known:
        raise DescriptionError(
            f"{at(part.where)}{label}: {key} has {name!r}, which does not exist; {nearest(name, known)}"
            f"{words}: {listed(known)}",
            name=name,
        )


def contact_data(
    description: Description,
    places: Mapping[str, Place],
    bodies: Sequence[Body],
    parents: Sequence[int],
    warnings: WarningList,
) -> ContactData | None:
    """Return geoms and pairs as arrays; None of a mechanism without geoms."""
    contacts = description.contacts
    if not contacts.geoms:
        return None
    geoms = contacts.geoms
    seats = [places[x.link] for x in geoms]
    poses = [_pose(seat, x) for seat, x in zip(seats, geoms, strict=True)]
    kinds = np.array([SHAPES[x.shape].number for x in geoms], dtype=np.int64)
    number = {x.name: k for k, x in enumerate(geoms)}
    carriers = [_carrier(seat.body, bodies, parents) for seat in seats]
    stated = {frozenset(map(number.__getitem__, x.geoms)): x.surface for x in contacts.pairs}
    link = {x.name: x.link for x in description.frames}
    links = [link.get(x.link, x.link) for x in geoms]
    excluded = {frozenset(link.get(name, name) for name in x.links) for x in contacts.exclusions}
    above = [_neighbour(carrier, bodies, parents) for carrier in carriers]
    pairs = {
        frozenset((i, j)): _combined(geoms[i], geoms[j])
        for i, j in combinations(range(len(geoms)), 2)
        if carriers[i] != carriers[j]
        and not (above[i] == carriers[j] > 0 or above[j] == carriers[i] > 0)
        and (geoms[i].contype & geoms[j].conaffinity or geoms[j].contype & geoms[i].conaffinity)
        and frozenset((links[i], links[j])) not in excluded
        and not kinds[i] == kinds[j] == PLANE
    }
    for key, surface in stated.items():
        _check_stated(key, geoms, kinds)
        pairs[key] = _stated(surface, pairs.get(key) or _combined(*(geoms[k] for k in key)))
    ordered = sorted((_ordered(key, kinds), surface) for key, surface in pairs.items())
    ordered.sort(key=lambda x: int(kinds[x[0][1]] != PLANE))
    spots = [Place(seat.body, pose) for seat, pose in zip(seats, poses, strict=True)]
    soft = {key: _softness(key, geoms, stated) for key, _ in ordered}
    compliant = [
        pad
        for (i, j), surface in ordered
        if (numbers := soft[i, j])
        for pad in pads((geoms[i], spots[i]), (geoms[j], spots[j]), surface[0], numbers)
    ]
    ordered = [(key, surface) for key, surface in ordered if not soft[key]]
    shapes = cache(partial(_shapes, geoms, warnings))
    if any(x.shape in ("mesh", "hull") and not x.convex for x in geoms):
        shapes()  # reports meshes that are not convex
    numbers = np.array([surface for _, surface in ordered], dtype=float).reshape(-1, 5).T.copy()
    return ContactData(
        tuple(x.name for x in geoms),
        frozen(np.array([seat.body for seat in seats], dtype=np.int64)),
        frozen(kinds),
        frozen(np.array([np.asarray(pose.R, dtype=float).ravel() for pose in poses])),
        frozen(np.array([np.asarray(pose.a, dtype=float) for pose in poses])),
        shapes,
        frozen(np.array([key[0] for key, _ in ordered], dtype=np.int64)),
        frozen(np.array([key[1] for key, _ in ordered], dtype=np.int64)),
        mu=frozen(numbers[0]),
        mu_static=frozen(numbers[1]),
        restitution=frozen(numbers[2]),
        torsional=frozen(numbers[3]),
        rolling=frozen(numbers[4]),
        max_contacts=contacts.max_contacts or PER_GEOM * len(geoms),
        pads=tuple(compliant),
    )


def _softness(
    key: tuple[int, int], geoms: Sequence[Contact], stated: Mapping[frozenset[int], Surface]
) -> dict[str, float]:
    """Return the numbers of a compliant pair: its own, else those of its geoms; empty where it is rigid."""
    own = stated.get(frozenset(key))
    return (softness([own]) if own else {}) or softness([geoms[k].surface for k in key])


def _shapes(geoms: Sequence[Contact], warnings: WarningList) -> Shapes:
    """Return the sizes of geoms and the hulls that they refer to."""

    sizes, hulls = np.zeros((len(geoms), 5)), list[Hull]()
    vertices, faces = 0, 0
    for k, geom in enumerate(geoms):
        shape = SHAPES[geom.shape]
        own = shape.size(geom.size)
        sizes[k, 4] = min(own) if own and shape.number != SPHERE else np.inf
        if shape.number == HULL:
            hull = hull_of(geom, warnings)
            own = (vertices, len(hull.vertices), faces, len(hull.faces), hull.thickness)
            vertices, faces = vertices + len(hull.vertices), faces + len(hull.faces)
            hulls.append(hull)
        sizes[k, : len(own)] = own
    return Shapes(
        frozen(sizes),
        frozen(np.vstack([np.zeros((0, 3)), *(x.vertices for x in hulls)])),
        frozen(np.vstack([np.zeros((0, 4)), *(x.faces for x in hulls)])),
    )


def _pose(seat: Place, geom: Contact) -> Pose:
    return seat.pose @ geom.origin.pose()


def _carrier(body: int, bodies: Sequence[Body], parents: Sequence[int]) -> int:
    """Return the body that moves this one: the nearest whose pair has a degree of freedom, or the ground."""
    while body and not bodies[body].pair.nv:
        body = parents[body]
    return body


def _neighbour(carrier: int, bodies: Sequence[Body], parents: Sequence[int]) -> int:
    """Return the body on which a body moves: the nearest with mass, or the ground."""
    if not carrier:
        return 0
    below = _carrier(parents[carrier], bodies, parents)
    while below and not bodies[below].m:
        below = _carrier(parents[below], bodies, parents)
    return below


def _ordered(key: frozenset[int], kinds: np.ndarray) -> tuple[int, int]:
    i, j = sorted(key, key=lambda k: (int(kinds[k]), k))
    return i, j


def _check_stated(key: frozenset[int], geoms: Sequence[Contact], kinds: np.ndarray) -> None:
    i, j = key
    if kinds[i] == kinds[j] == PLANE:
        raise DescriptionError(
            f"contact_pair {geoms[i].name!r} and {geoms[j].name!r}: two planes have no contact points; give one of "
            "them another shape, such as box"
        )


def _combined(one: Contact, other: Contact) -> tuple[float, ...]:
    """Return mu, mu_static, restitution, torsional, rolling of two geoms: the larger ones, or of higher priority."""
    if one.priority != other.priority:
        both = (one,) if one.priority > other.priority else (other,)
    else:
        both = (one, other)
    dimensions = max(x.dimensions for x in both)
    surfaces = [x.surface for x in both]
    mu, restitution, torsional, rolling = (
        max((getattr(x, key) or 0.0 for x in surfaces), default=0.0)
        for key in ("mu", "restitution", "torsional", "rolling")
    )
    static = max((x.mu_static or 0.0 for x in surfaces), default=0.0)
    friction = (mu, max(mu, static)) if dimensions >= 3 else (0.0, 0.0)
    return (*friction, restitution, torsional * (dimensions >= 4), rolling * (dimensions >= 6))


_ORDER = ("mu", "mu_static", "restitution", "torsional", "rolling")


def _stated(surface: Surface, otherwise: tuple[float, ...]) -> tuple[float, ...]:
    """Return the numbers of a pair that is written out; what it does not specify is that of its geoms."""
    values = {key: getattr(surface, key) for key in _ORDER}
    if values["mu"] is not None and values["mu_static"] is None:
        values["mu_static"] = values["mu"]
    return tuple(
        other if values[key] is None else values[key] for key, other in zip(_ORDER, otherwise, strict=True)
    )
