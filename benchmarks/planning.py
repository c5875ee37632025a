"""Inverse kinematics beside Pinocchio's closed loop (CLIK), whole paths, nominal dynamics and the fastest motion."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks.robots import Robot, robot

TOOLS = {"UR5": "tool0", "Panda": "panda_hand", "xArm7": "link7"}
CLOSED_FORM = ("UR5",)  # six hinges whose axes have all solutions
MOVE, STEP = np.array([-0.05, 0.03, 0.05]), np.array([0.6, -0.4, 0.3, 0.5, 0.2, -0.3, 0.4])
POSES, QUICK_POSES, TURNS = 100_000, 10_000, 15
REPEATS = 3  # of each pose
EXACT = 1e-6  # [m], [rad]: error of a position that was found
EPS, STEPS, DAMP = 1e-4, 1000, 1e-12  # of Pinocchio's example of inverse kinematics
DEMANDED = {"as in its example": 1.0}
LENGTHS = {"as in its example": 1e-1, "with full steps": 1.0}


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, and what was demanded of it; below or above says which side is good."""

    what: str
    found: float
    unit: str
    demanded: float | None = None
    above: bool = False

    @property
    def met(self) -> bool:
        """Is the demand met?"""
        if self.demanded is None:
            return True
        return self.found >= self.demanded if self.above else self.found <= self.demanded

    def __str__(self) -> str:
        sign = "≥" if self.above else "≤"
        demand = "" if self.demanded is None else f"   {'✓' if self.met else '✗'} {sign} {self.demanded:g}"
        return f"{self.what}: {self.found:.4g} {self.unit}{demand}"


def inverse_rows(of: Robot, poses: int) -> Iterator[Row]:
    """Of one arm: reachable poses from one start, near ones, one out of reach, a path."""
    m, frame = of.load(), TOOLS[of.label]
    low, high = _limits(m)
    draws = np.random.default_rng(7)
    q = draws.uniform(low, high, (poses, m.nq))
    target, start = m.pose(q, frame), (low + high) / 2
    reached = _reached(m, start, frame, target)
    yield Row(f"{of.label}: reached of {poses} poses, within limits", 100 * reached, "%", 99.99, above=True)
    some = range(min(200, poses))
    near = q + draws.uniform(-0.05, 0.05, q.shape)
    far = [_least(lambda k=k: _solved(m, start, frame, target, k)) for k in some]
    close = [_least(lambda k=k: _solved(m, near[k], frame, target, k)) for k in some]
    yield Row(f"{of.label}: a pose from the middle of the limits, mean", 1e3 * float(np.mean(far)), "ms", 0.2)
    yield Row(f"{of.label}: a pose 0.05 rad away, median", 1e3 * float(np.median(close)), "ms", 1.0)
    gone = min(_seconds(lambda: _refused(m, start, frame, target.rotation[0])) for _ in range(TURNS))
    yield Row(f"{of.label}: a pose out of reach is refused", 1e3 * gone, "ms", 50.0)
    if of.label in CLOSED_FORM:

        def every() -> Any:
            return m.inverse_kinematics_solutions(frame, target.position, target.rotation)

        every()
        micro = 1e6 * min(_seconds(every) for _ in range(TURNS)) / poses
        yield Row(f"{of.label}: all solutions of a pose, {poses} at once", micro, "µs", 10.0)
    pose = m.pose(start + 0.3, frame)
    line = kp.motion.line(pose, kp.FramePose(pose.rotation, pose.position + MOVE), 2.0)

    def follow() -> Any:
        return kp.motion.follow(m, {frame: line}, start=start + 0.3, samples=1000)

    follow()
    yield Row(
        f"{of.label}: a path of 1000 points", 1e3 * min(_seconds(follow) for _ in range(TURNS)), "ms", 50.0
    )
    yield from _beside_pinocchio(of, m, frame, near, target, some, close)


def _beside_pinocchio(
    of: Robot, m: kp.Mechanism, frame: str, near: Any, target: Any, some: range, ours: list[float]
) -> Iterator[Row]:
    """The loop of Pinocchio's example, near targets: it has no limits and no restarts."""
    import pinocchio as pin

    model = pin.buildModelFromXML(of.bare_urdf())
    data, fid = model.createData(), model.getFrameId(frame)

    def clik(q: np.ndarray, k: int, length: float) -> bool:
        goal = pin.SE3(target.rotation[k], target.position[k])
        for _ in range(STEPS):
            pin.framesForwardKinematics(model, data, q)
            error = pin.log(data.oMf[fid].actInv(goal)).vector
            if np.linalg.norm(error) < EPS:
                return True
            J = -pin.Jlog6(goal.actInv(data.oMf[fid])) @ pin.computeFrameJacobian(model, data, q, fid)
            v = -J.T @ np.linalg.solve(J @ J.T + DAMP * np.eye(6), error)
            q = pin.integrate(model, q, v * length)
        return False

    for how, length in LENGTHS.items():
        theirs = [_seconds(lambda k=k, length=length: clik(near[k].copy(), k, length)) for k in some]
        ratio = float(np.median(theirs) / np.median(ours))
        what = f"{of.label}: CLIK of Pinocchio {how}, the same near starts, times slower"
        yield Row(what, ratio, "", DEMANDED.get(how), above=True)


def other_rows() -> Iterator[Row]:
    """Nominal dynamics of a six-axis arm, and the fastest motion of a seven-axis one."""
    m = kp.example("stanford-arm")
    move = kp.motion.polynomial(np.full(6, 0.1), [0.5, 1.0, 0.3, -0.4, 0.6, 0.2], 2.0, order=7)

    def nominal() -> Any:
        return kp.motion.nominal(m, move, samples=10_000)

    nominal()
    yield Row(
        "nominal dynamics, six axes, 10 000 samples",
        1e3 * min(_seconds(nominal) for _ in range(TURNS)),
        "ms",
        5.0,
    )
    arm = kp.example("redundant-arm")
    path = kp.motion.polynomial(arm.start(), arm.start() + STEP, 1.0)

    def quick() -> Any:
        return kp.motion.fastest(arm, path, jerk=np.inf)

    quick()
    yield Row("the fastest motion of seven axes", min(_seconds(quick) for _ in range(5)), "s")


def _solved(m: kp.Mechanism, q: np.ndarray, frame: str, target: Any, k: int) -> Any:
    return m.inverse_kinematics(q, frame, target.position[k], target.rotation[k])


def _reached(m: kp.Mechanism, start: np.ndarray, frame: str, target: Any) -> float:
    """Return the part of the poses at which the frame is, within the limits of the joints."""
    try:
        q = m.inverse_kinematics(start, frame, target.position, target.rotation)
    except kp.SingularError as error:
        q = error.parts["q"]
    pose, (low, high) = m.pose(q, frame), _limits(m)
    position = np.abs(pose.position - target.position).max(-1)
    turned = np.abs(pose.rotation - target.rotation).max((-1, -2))
    within = ((low - EXACT <= q) & (q <= high + EXACT)).all(-1)
    return float(((position <= EXACT) & (turned <= EXACT) & within).mean())


def _refused(m: kp.Mechanism, q: np.ndarray, frame: str, rotation: np.ndarray) -> None:
    try:
        m.inverse_kinematics(q, frame, [5.0, 5.0, 5.0], rotation)
    except kp.SingularError:
        return
    raise AssertionError("a pose out of reach was reached")


def _limits(m: kp.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    low, high = m.model.joints.lower, m.model.joints.upper
    return np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)


def _seconds(call: Callable[[], Any]) -> float:
    began = process_time()
    call()
    return process_time() - began


def rows(*, quick: bool = False) -> Iterator[Row]:
    """Every row."""
    for label in TOOLS:
        yield from inverse_rows(robot(label), QUICK_POSES if quick else POSES)
    yield from other_rows()


def _least(call: Callable[[], Any]) -> float:
    return min(_seconds(call) for _ in range(REPEATS))


def main() -> None:
    """`python -m benchmarks.planning [--quick]`."""
    parser = argparse.ArgumentParser(prog="benchmarks.planning", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the poses")
    for row in rows(quick=parser.parse_args().quick):
        print(row, flush=True)


if __name__ == "__main__":
    main()
