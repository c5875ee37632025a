"""Compare 200 numbers of every quantity on every bundled mechanism with the stored ones, bit for bit; list lost laws.

    python tools/freeze.py            print the rows that differ; exit status 1 where a number changed
    python tools/freeze.py NAME...    of these mechanisms alone
    python tools/freeze.py --write    store the numbers anew

A row of `tests/golden/numbers.txt` has the mechanism, the quantity with its method, the number of values, the first
half of the SHA-256 of their bytes, and the sum of their magnitudes. The reference (NumPy, no compiled code) evaluates
them at seeded states. Bits hold for one processor and one version of NumPy; on another, `rounding` says that only the
sum of magnitudes agrees, to 1e-11. `tests/golden/test_numbers.py` checks that sum for some mechanisms everywhere.
`tests/golden/laws.txt` lists the test ids of `tests/laws`, without parameters; a test whose function is no longer
anywhere in `tests` is a lost law.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinpair as kp

FILE = Path(__file__).parents[1] / "tests" / "golden" / "numbers.txt"
LAWS = FILE.with_name("laws.txt")
NUMBERS = 200  # of each quantity
ROUNDING = 1e-11  # relative, of a sum of magnitudes: other processors round sin, cos and sums differently
CALLS: dict[str, Callable[..., Any]] = {  # of a mechanism, its last frame, q, qd, qdd and a method
    "inverse_dynamics": lambda m, frame, q, qd, qdd, **by: m.inverse_dynamics(q, qd, qdd, **by),
    "forward_dynamics": lambda m, frame, q, qd, qdd, **by: m.forward_dynamics(q, qd, qdd, **by),
    "mass_matrix": lambda m, frame, q, qd, qdd, **by: m.mass_matrix(q, **by),
    "coriolis_matrix": lambda m, frame, q, qd, qdd, **by: m.coriolis_matrix(q, qd, **by),
    "bias_forces": lambda m, frame, q, qd, qdd, **by: m.bias_forces(q, qd, **by),
    "gravity_forces": lambda m, frame, q, qd, qdd, **by: m.gravity_forces(q, **by),
    "reactions": lambda m, frame, q, qd, qdd, **by: m.reactions(q, qd, qdd, **by),
    "regressor": lambda m, frame, q, qd, qdd: m.regressor(q, qd, qdd),
    "energy": lambda m, frame, q, qd, qdd: m.energy(q, qd),
    "pose": lambda m, frame, q, qd, qdd: m.pose(q, frame),
    "jacobian": lambda m, frame, q, qd, qdd: m.jacobian(q, frame),
    "jacobian_rate": lambda m, frame, q, qd, qdd: m.jacobian_rate(q, qd, frame),
    "twists": lambda m, frame, q, qd, qdd: m.twists(q, qd),
    "twist_rates": lambda m, frame, q, qd, qdd: m.twist_rates(q, qd, qdd),
    "centre_of_mass": lambda m, frame, q, qd, qdd: m.centre_of_mass(q),
    "momentum": lambda m, frame, q, qd, qdd: m.momentum(q, qd),
    "dq_dt": lambda m, frame, q, qd, qdd: m.dq_dt(q, qd),
}


class Row(NamedTuple):
    """What is stored of one quantity by one method: number of values, hash of their bits, sum of their magnitudes."""

    count: int
    bits: str
    size: float

    def compared(self, other: Row) -> str:
        """`same`, `rounding` or `changed`."""
        if self[:2] == other[:2]:
            return "same"
        near = abs(self.size - other.size) <= ROUNDING * max(1.0, abs(other.size))
        return "rounding" if self.count == other.count and near else "changed"


def values(result: Any) -> np.ndarray:
    """Every number of a result (arrays, tuples, mappings of them) in one array."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple):
        return np.concatenate([values(x) for x in result]) if result else np.zeros(0)
    return np.ravel(np.asarray(result, dtype=float))


def states(m: kp.Mechanism, count: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Seeded coordinates near the start, rates and accelerations."""
    rng = np.random.default_rng(33)
    for _ in range(count):
        dq = rng.uniform(-0.3, 0.3, m.nv)
        q = m.start() + m.dq_dt(m.start(), dq)
        for i in m.model.moving:
            if m.model.body[i].pair.nq > m.model.body[i].pair.nv:
                last = m.model.q_span[i].stop
                q[last - 4 : last] /= np.sqrt(sum(q[last - 4 : last] ** 2))
        yield q, rng.uniform(-1, 1, m.nv), rng.uniform(-1, 1, m.nv)


def row(f: Callable[..., Any], m: kp.Mechanism, **by: str) -> Row | None:
    """The stored form of a quantity; None where this mechanism has no such quantity."""
    collected: list[np.ndarray] = []
    frame = m.model.names[-1]
    for q, qd, qdd in states(m, NUMBERS):
        try:
            collected.append(values(f(m, frame, q, qd, qdd, **by)))
        except kp.KinpairError:
            return None
        if sum(x.size for x in collected) >= NUMBERS or not collected[-1].size:
            break
    x = np.concatenate(collected)[:NUMBERS] + 0.0  # no −0
    return Row(x.size, hashlib.sha256(x.tobytes()).hexdigest()[:32], float(np.abs(x).sum()))


def rows(name: str) -> Iterator[tuple[str, Row]]:
    """Every quantity of a bundled mechanism by every method that gives it."""
    m = kp.example(name).reference
    for quantity, f in CALLS.items():
        if (default := row(f, m)) is not None:
            yield quantity, default
        for method in m.methods.get(quantity, ())[1:]:
            if (by := row(f, m, method=method)) is not None:
                yield f"{quantity}/{method}", by


def stored() -> dict[tuple[str, str], Row]:
    """Rows of the file."""
    lines = [x.split() for x in FILE.read_text("utf-8").splitlines() if not x.startswith("#")]
    return {
        (name, quantity): Row(int(count), bits, float(size)) for name, quantity, count, bits, size in lines
    }


def tests_in(folder: Path) -> list[str]:
    """Ids of the tests of a folder, without parameters."""
    root = FILE.parents[2]
    return [
        f"{path.relative_to(root).as_posix()}::{node.name}"
        for path in sorted(folder.rglob("test_*.py"))
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def lost_laws() -> list[str]:
    """Stored ids of laws whose function is in no file of the tests."""
    known = {x.partition("::")[2] for x in tests_in(FILE.parents[1])}
    return [x for x in LAWS.read_text("utf-8").split() if x.partition("::")[2] not in known]


def main(*arguments: str) -> int:
    """Write or compare; return the exit status."""
    warnings.simplefilter("ignore")
    write = "--write" in arguments
    names = [x for x in arguments if x != "--write"] or list(kp.examples(systems=False))
    now = {(name, quantity): x for name in names for quantity, x in rows(name)}
    if write:
        kept = {key: x for key, x in stored().items() if key[0] not in names} if FILE.exists() else {}
        text = "".join(
            f"{a} {b} {x.count} {x.bits} {x.size!r}\n" for (a, b), x in sorted((kept | now).items())
        )
        FILE.write_text("# mechanism quantity[/method] count bits sum-of-magnitudes\n" + text, "utf-8")
        LAWS.write_text("\n".join(tests_in(FILE.parents[1] / "laws")) + "\n", "utf-8")
        return 0
    before = {key: x for key, x in stored().items() if key[0] in names}
    outcome = {key: now[key].compared(x) if key in now else "lost" for key, x in before.items()}
    outcome |= dict.fromkeys(now.keys() - before.keys(), "new")
    for key, word in sorted(outcome.items()):
        if word != "same":
            print(*key, word)
    counts = {
        word: list(outcome.values()).count(word) for word in ("same", "rounding", "changed", "lost", "new")
    }
    print(", ".join(f"{n} {word}" for word, n in counts.items() if n))
    print(*(f"law lost: {x}" for x in lost_laws()), sep="\n", end="")
    return int(bool(counts["changed"] + counts["lost"] or lost_laws()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
