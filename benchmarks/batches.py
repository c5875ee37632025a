"""Batches of states: kinpair and its peers on every robot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchmarks import targets
from benchmarks.casadi_rival import Casadi
from benchmarks.mujoco_rival import Mujoco
from benchmarks.ours import CALLS, STATES, Compiled
from benchmarks.pinocchio_rival import Pinocchio
from benchmarks.rival import BATCH, Rival, relative_error
from benchmarks.robots import Robot, random_states
from benchmarks.timing import race

AGREE = 1e-6  # a forward dynamics may lose digits by the constraint of H; all else agrees to rounding


@dataclass(frozen=True, slots=True)
class Row:
    """Nanoseconds a state: ours by instruction set, in prepared and in fresh memory, and the peers'."""

    quantity: str
    robot: str
    nv: int
    ours: dict[str, float]
    fresh: dict[str, float]
    peers: dict[str, float]
    targets: dict[str, float] = field(default_factory=dict)
    """Ratios demanded, by peer."""

    def ratio(self, peer: str, instructions: str) -> float:
        """How many times faster than a peer."""
        return self.peers[peer] / self.ours[instructions]


def rows(robots: Iterable[Robot], instructions: Iterable[str], turns: int) -> Iterator[Row]:
    """A row a quantity and robot."""
    for robot in robots:
        mechanism = robot.load()
        states = random_states(mechanism, BATCH)
        ours = [Compiled(robot, states, name) for name in instructions]
        peers = [
            Pinocchio(robot, mechanism, states),
            Mujoco(robot, mechanism, states),
            Casadi(mechanism, states),
        ]
        for quantity in CALLS:
            rivals = [rival for peer in peers for rival in peer.rivals(quantity)]
            yield _measured(robot, quantity, ours, rivals, turns)


def _measured(robot: Robot, quantity: str, ours: list[Compiled], rivals: list[Rival], turns: int) -> Row:
    calls = {(c.instructions, form): f for c in ours for form, f in c.calls(quantity).items()}
    best = race(calls | {rival.name: rival.call for rival in rivals}, turns)
    _check(robot, quantity, ours[0], rivals)
    nv, states = ours[0].mechanism.nv, STATES[quantity]
    demanded = {rival.name: targets.ratio(quantity, rival.name, robot, nv) for rival in rivals}
    return Row(
        quantity,
        robot.label,
        nv,
        ours={c.instructions: _ns(best[c.instructions, ""], states) for c in ours},
        fresh={name: _ns(t, states) for (name, form), t in _of_ours(best) if form == "fresh"},
        peers={rival.name: _ns(best[rival.name], rival.states) for rival in rivals},
        targets={name: ratio for name, ratio in demanded.items() if ratio is not None},
    )


def _of_ours(best: dict) -> Iterator[tuple[tuple[str, str], float]]:
    return ((key, seconds) for key, seconds in best.items() if isinstance(key, tuple))


def _ns(seconds: float, states: int) -> float:
    return seconds / states * 1e9


def _check(robot: Robot, quantity: str, ours: Compiled, rivals: list[Rival]) -> None:
    """All have computed the same."""
    result = ours.result(quantity)
    for rival in rivals:
        found = rival.found()
        expected = result[:, : rival.states] if result.ndim == 4 else result[: rival.states]
        error = relative_error(expected, found)
        assert error < AGREE, (
            f"{robot.label}, {quantity}: {rival.name} finds other numbers, error {error:.1e}"
        )
