"""Contact points: closed forms against another program, and the laws that every narrow phase satisfies."""

from __future__ import annotations

import coal
import numpy as np
import pytest

import kinpair as kp
from contact_cases import SIZES, Pair, turn
from kinpair.contact.points import curvature_bias
from kinpair.contact.records import SHARP, Found
from kinpair.spatial.rotation import skew, to_quaternion

CONVEX = [kind for kind in SIZES if kind != "plane"]
PAIRS = [(one, other) for k, one in enumerate(CONVEX) for other in (*CONVEX[k:], "plane")]


def solid(kind: str) -> coal.CollisionGeometry:
    size = SIZES[kind]
    makers = {
        "sphere": lambda: coal.Sphere(size),
        "capsule": lambda: coal.Capsule(*size),
        "box": lambda: coal.Box(*size),
        "cylinder": lambda: coal.Cylinder(*size),
        "ellipsoid": lambda: coal.Ellipsoid(*size),
        "hull": lambda: _hull(np.array(size)),
        "plane": lambda: coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0),
    }
    return makers[kind]()


def is_searched(kinds: tuple[str, str]) -> bool:
    """True if the normal is that of a polytope or simplex next to a curved surface, good to the root of its gap."""
    smooth = {"sphere", "ellipsoid"}
    curved = {"cylinder", "ellipsoid"} & {*kinds}
    return bool(curved) and "plane" not in kinds and not {*kinds} <= smooth


def _hull(points: np.ndarray) -> coal.Convex:
    vertices = coal.StdVec_Vec3s()
    for point in points:
        vertices.append(point)
    return coal.Convex.convexHull(vertices, True, "Qt")


TWICE = [x for x in PAIRS if not is_searched(x)] + [("sphere", "cylinder")]


def signed_distance(pair: Pair, R: np.ndarray, p: np.ndarray) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    places = [coal.Transform3s(R[k], p[k]) for k in range(2)]
    return coal.distance(solid(pair.one), places[0], solid(pair.other), places[1], request, result)


def poses(seed: int, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random axes and origins of two bodies, one around the other."""
    rng = np.random.default_rng(seed)
    every = []
    for _ in range(count):
        direction = rng.normal(size=3)
        away = direction / np.linalg.norm(direction) * rng.uniform(0.3, 0.9)
        every.append((np.array([turn(rng), turn(rng)]), np.array([away, np.zeros(3)])))
    return every


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_smallest_gap_is_the_signed_distance(kinds):
    """Of two boxes where they overlap: apart, corner next to corner or edge has no point."""
    pair, seen = Pair(*kinds), 0
    for R, p in poses(1, 200):
        distance = signed_distance(pair, R, p)
        if distance < -0.05 or (distance > 0.0 and kinds == ("box", "box")):
            continue
        seen += 1
        assert pair.points(R, p).gap.min() == pytest.approx(distance, abs=5e-8)
    assert seen > 15


def moved(R: np.ndarray, p: np.ndarray, twist: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Bodies after a time h with constant angular velocity and constant velocity of their origins, world axes."""
    turned = []
    for k in range(2):
        w = h * twist[k, :3]
        angle = np.linalg.norm(w)
        K = skew(w / angle)
        turned.append((np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ R[k])
    return np.array(turned), p + h * twist[:, 3:]


def relative(pair: Pair, p: np.ndarray, twist: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, ...]:
    """Velocity and angular velocity of a relative to b at a point, and its derivative without that of the twists."""
    a, b = (1, 0) if pair.swapped() else (0, 1)
    omega = twist[a, :3] - twist[b, :3]
    v = {k: twist[k, 3:] + np.cross(twist[k, :3], point - p[k]) for k in (a, b)}
    u = v[a] - v[b]
    centripetal = {k: np.cross(twist[k, :3], np.cross(twist[k, :3], point - p[k])) for k in (a, b)}
    bias = centripetal[a] - centripetal[b] - 2 * np.cross(twist[b, :3], u)  # as seen from b, whose axes turn
    return u, omega, bias


def slots(found: Found) -> dict[int, int]:
    return {int(slot): k for k, slot in enumerate(found.slot)}


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_rate_of_the_gap_is_the_normal_velocity(kinds):
    """Of edges that cross next to a face at a tilt the normal is that of the face, so they are left out."""
    pair, h, compared = Pair(*kinds), 1e-6, 0
    rng = np.random.default_rng(5)
    for R, p in poses(2, 40):
        twist = rng.normal(size=(2, 6))
        now = pair.points(R, p)
        before, after = (pair.points(*moved(R, p, twist, x)) for x in (-h, h))
        for slot, k in slots(now).items():
            if (kinds == ("box", "box") and slot >= 16 and len(now.gap) > 1) or (
                now.gap[k] < -0.1 and "plane" not in kinds
            ):
                continue
            if slot in slots(before) and slot in slots(after):
                rate = (after.gap[slots(after)[slot]] - before.gap[slots(before)[slot]]) / (2 * h)
                u, *_ = relative(pair, p, twist, now.point[k])
                assert rate == pytest.approx(now.frame[k, :3] @ u, abs=1e-4 if is_searched(kinds) else 2e-8)
                compared += 1
    assert compared >= 20


@pytest.mark.parametrize("kinds", TWICE, ids="-".join)
def test_second_derivative_of_the_gap_has_the_curvatures(kinds):
    """By differences of order four, since next to an edge the normal turns quickly."""
    pair, h, compared = Pair(*kinds), 5e-5, 0
    rng = np.random.default_rng(6)
    for R, p in poses(3, 40):
        twist = rng.normal(size=(2, 6))
        now = pair.points(R, p)
        steps = [pair.points(*moved(R, p, twist, x)) for x in (-2 * h, -h, h, 2 * h)]
        for slot, k in slots(now).items():
            if (kinds == ("box", "box") and slot >= 16) or any(slot not in slots(x) for x in steps):
                continue
            bends = [x.curvature[slots(x)[slot]] for x in steps]
            if np.abs(np.array(bends) - now.curvature[k]).max() > 0.01 * SHARP:
                continue  # the point goes on to another edge or corner
            far, near, next_near, next_far = (x.gap[slots(x)[slot]] for x in steps)
            second = (-far + 16 * near - 30 * now.gap[k] + 16 * next_near - next_far) / (12 * h**2)
            u, omega, bias = relative(pair, p, twist, now.point[k])
            out = np.array([now.frame[k, :3] @ bias, 0.0, 0.0])
            curvature_bias(now, k, u, omega, np.zeros(22), out)
            assert second == pytest.approx(out[0], rel=1e-5, abs=1e-5)
            compared += 1
    assert compared >= 20


@pytest.mark.parametrize("angle", np.linspace(0.0, np.pi, 7))
@pytest.mark.parametrize("gap", [0.0, -1e-9, -1 / SHARP, -2 / SHARP, -1e-3])
def test_edges_along_faces_and_edges_have_finite_accelerations(angle, gap):
    """An edge over a face, two parallel edges, and edges that overlap by their radius: K_a + K is singular."""
    now, d = Pair("box", "box").points(*poses(1, 1)[0]), np.array([np.cos(angle), np.sin(angle)])
    across = SHARP * np.outer(d, d)[np.triu_indices(2)]
    u, omega = np.array([1.0, 2.0, 3.0]), np.array([3.0, -1.0, 2.0])
    for other in (np.zeros(3), across):
        now.gap[0], now.curvature[0] = gap, np.concatenate([across, other])
        out = np.zeros(3)
        curvature_bias(now, 0, u, omega, np.zeros(22), out)
        assert np.abs(out).max() < (np.inf if other.any() else 1e3)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_points_move_with_both_bodies(kinds):
    """A motion of everything changes no gap; normals and points move with it."""
    pair, fine = Pair(*kinds), 1e5 if is_searched(kinds) else 1.0
    rng = np.random.default_rng(7)
    for R, p in poses(4, 20):
        Q, shift = turn(rng), rng.normal(size=3)
        here, there = pair.points(R, p), pair.points(Q @ R, p @ Q.T + shift)
        assert list(here.slot) == list(there.slot)
        np.testing.assert_allclose(there.gap, here.gap, atol=1e-13 * fine)
        np.testing.assert_allclose(there.point, here.point @ Q.T + shift, atol=1e-9 * fine)
        np.testing.assert_allclose(
            there.frame.reshape(-1, 3), here.frame.reshape(-1, 3) @ Q.T, atol=1e-10 * fine
        )


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_exchanging_the_bodies_changes_the_sign_of_the_normals(kinds):
    """Points of a pair of one kind: each point is found again, its normal turned."""
    one, other = Pair(*kinds), Pair(*kinds[::-1])
    sign = -1.0 if kinds[0] == kinds[1] else 1.0
    for R, p in poses(8, 20):
        here, there = one.points(R, p), other.points(R[::-1], p[::-1])
        order, its = (np.lexsort(x.point.round(3).T) for x in (here, there))
        np.testing.assert_allclose(there.gap[its], here.gap[order], atol=1e-9)
        np.testing.assert_allclose(there.point[its], here.point[order], atol=1e-5)
        np.testing.assert_allclose(there.frame[its, :3], sign * here.frame[order, :3], atol=1e-5)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_machine_code_gives_the_bits_of_the_reference(kinds):
    pair = Pair(*kinds)
    for R, p in poses(9, 4):
        fast, slow = pair.points(R, p), pair.points(R, p, reference=True)
        for x, y in zip(fast[:6], slow[:6], strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_axes_of_a_point_are_a_rotation(kinds):
    pair = Pair(*kinds)
    for R, p in poses(10, 10):
        frames = pair.points(R, p).frame.reshape(-1, 3, 3)
        np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.eye(3) + 0 * frames, atol=1e-12)
        assert (np.linalg.det(frames) > 0.0).all()


@pytest.mark.parametrize("tip", ["point", "corner"])
@pytest.mark.parametrize("size", [(0.05, 1.0), (0.1, 0.3), (0.5, 0.01)], ids=str)
def test_the_normal_on_a_cylinder_is_that_of_its_surface_at_any_gap(size, tip):
    """Also where a point or a corner touches: its distance is rounding there and has no direction."""
    shapes = {"point": {"point": True}, "corner": {"hull": [[0, 0, 0], [5, 1, 10], [-5, 2, 10], [0, -6, 9]]}}
    b = kp.Builder("tip").link("tip", mass=1.0, inertia=[1, 1, 1]).joint("free", "free", "ground", "tip")
    b.contact("cylinder", "ground", cylinder=size).contact("tip", "tip", **shapes[tip])
    m, rng, (r, length) = kp.build(b), np.random.default_rng(3), size
    sign = 1.0 if m.contacts([0, 0, length, 0, 0, 0, 1], margin=10)[0].a == "tip" else -1.0
    for gap in (1e-4, 1e-9, 1e-12, 0.0, -1e-14, -1e-9, -1e-5):
        for angle, height, cap in rng.uniform([0, -0.45, -1], [2 * np.pi, 0.45, 1], (40, 3)):
            out = np.array([np.cos(angle), np.sin(angle), 0.0])
            foot, n = r * out + [0, 0, height * length], out
            if cap > 0:
                foot, n = 1.8 * height * r * out + [0, 0, 0.5 * length], np.array([0.0, 0.0, 1.0])
            x = np.cross(n, [0.3, 0.5, 0.8])
            axes = np.array([x / np.linalg.norm(x), np.cross(n, x / np.linalg.norm(x)), n]).T
            place = [*(foot + gap * n), *to_quaternion(axes)]
            point = min(m.contacts(place, margin=0.01), key=lambda x: x.gap)
            assert np.abs(sign * point.normal - n).max() < 1e-3
            assert abs(point.gap - gap) < 2e-8


def test_points_beyond_the_margin_are_not_given():
    pair = Pair("box", "plane")
    R, p = np.array([np.eye(3)] * 2), np.array([[0.0, 0.0, 0.26], [0.0, 0.0, 0.0]])
    assert len(pair.points(R, p, 0.005).gap) == 0
    np.testing.assert_allclose(pair.points(R, p, 0.02).gap, [0.01] * 4, atol=1e-15)
    assert len(pair.points(R, p, 1.0).gap) == 8


def test_faces_of_two_boxes_share_four_points_where_they_are_aligned_and_eight_where_turned():
    pair = Pair("box", "box")
    p = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    assert len(pair.points(np.array([np.eye(3)] * 2), p, 1e-3).gap) == 4
    c, s = np.cos(0.4), np.sin(0.4)
    turned = np.array([[[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], np.eye(3)])
    points = pair.points(turned, p, 1e-3)
    np.testing.assert_allclose(points.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(
        points.frame[:, :3], np.tile([0.0, 0.0, 1.0], (len(points.gap), 1)), atol=1e-12
    )
    assert len(points.gap) == 8


def test_capsules_side_by_side_touch_at_both_ends():
    pair = Pair("capsule", "capsule")
    R, p = np.array([np.eye(3)] * 2), np.array([[0.4, 0.0, 0.1], [0.0, 0.0, 0.0]])
    points = pair.points(R, p, 1e-3)
    np.testing.assert_allclose(points.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(sorted(points.point[:, 2]), [-0.25, 0.35], atol=1e-15)
