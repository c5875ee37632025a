"""Own code next to maintained libraries that could replace it: printed equations, meshes, files of runs, MJCF.

    python -m benchmarks.replacements

CPU times, the least of several calls. symengine, python-flint and fast-simplification are installed for it by hand.
"""

from __future__ import annotations

import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy.spatial import cKDTree

import kinpair as kp
from benchmarks.planning import Row
from kinpair.description.mesh_file import read_mesh
from kinpair.printed_equations.closed_form.polynomial import Polynomial
from kinpair.viewer.surfaces import Surface, reduced

TURNS, MOST = 5, 5000


def least(call: Callable[[], Any], turns: int = TURNS) -> float:
    """Least CPU time of several calls [s]."""
    times: list[float] = []
    for _ in range(turns):
        before = time.process_time()
        call()
        times.append(time.process_time() - before)
    return min(times)


def polynomial_rows() -> Iterator[Row]:
    """Every product that printing the equations of an arm takes, again by two libraries.

    The libraries get sines and cosines as symbols, and expand; the identities of products of sines and cosines, which
    our product applies, are left out for them.
    """
    import flint
    import symengine

    pairs: list[tuple[Polynomial, Polynomial]] = []
    own = Polynomial.__mul__

    def watched(self: Polynomial, other: Polynomial) -> Polynomial:
        pairs.append((self, other))
        return own(self, other)

    m = kp.example("stanford-arm")
    Polynomial.__mul__ = watched
    before = time.process_time()
    try:
        str(kp.equations(m))
    finally:
        Polynomial.__mul__ = own
    whole = time.process_time() - before
    names: dict[Any, int] = {}
    tables = [[_numbered(x, names) for x in pair] for pair in pairs]
    symbols = symengine.symbols([f"x{k}" for k in range(len(names))])
    sums = [[_sum(symbols, x) for x in pair] for pair in tables]
    ring = flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(names))])
    exact = [[_exact(flint, ring, x, len(names)) for x in pair] for pair in tables]
    yield Row("printed equations of stanford-arm, whole", whole, "s")
    yield Row("their products", float(len(pairs)), "")
    ours = least(lambda: [own(x, y) for x, y in pairs])
    yield Row("products by kinpair, identities of sines and cosines included", ours, "s")
    yield Row("products by symengine, expanded", least(lambda: [(x * y).expand() for x, y in sums]), "s")
    yield Row("products by python-flint, rational numbers", least(lambda: [x * y for x, y in exact]), "s")


def _numbered(x: Polynomial, names: dict[Any, int]) -> list[tuple[float, dict[int, int]]]:
    """Terms with symbols, sines and cosines as numbered variables; negative powers have variables of their own."""
    terms: list[tuple[float, dict[int, int]]] = []
    for (powers, waves), value in x.terms.items():
        exponents = {names.setdefault((name, n < 0), len(names)): abs(n) for name, n in powers}
        exponents |= {names.setdefault(wave, len(names)): 1 for wave in waves}
        terms.append((value, exponents))
    return terms


def _sum(symbols: Any, terms: list[tuple[float, dict[int, int]]]) -> Any:
    total: Any = 0
    for value, exponents in terms:
        each: Any = value
        for k, n in exponents.items():
            each = each * symbols[k] ** n
        total = total + each
    return total


def _exact(flint: Any, ring: Any, terms: list[tuple[float, dict[int, int]]], count: int) -> Any:
    values: dict[tuple[int, ...], Any] = {}
    for value, exponents in terms:
        at = tuple(exponents.get(k, 0) for k in range(count))
        values[at] = flint.fmpq(*float(value).as_integer_ratio())
    return ring.from_dict(values)


def mesh_rows() -> Iterator[Row]:
    """Reading and coarsening the largest mesh of each kind that example-robot-data has."""
    import fast_simplification
    import trimesh

    files = [x for x in _share().rglob("*") if x.suffix.lower() in (".stl", ".obj", ".dae")]
    for kind in (".stl", ".obj"):
        of_kind = sorted((x for x in files if x.suffix.lower() == kind), key=lambda x: x.stat().st_size)
        if not of_kind:
            continue
        file = of_kind[-1]
        yield Row(f"{file.name}, read by kinpair", least(lambda f=file: read_mesh(f)), "s")
        by_trimesh = least(lambda f=file: trimesh.load(f, process=False, force="mesh"))
        yield Row(f"{file.name}, read by trimesh", by_trimesh, "s")
    mesh = trimesh.load(
        max((x for x in files if x.suffix.lower() == ".stl"), key=lambda x: x.stat().st_size), force="mesh"
    )
    points, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
    surface = Surface(points, faces)
    coarse, _ = reduced(surface, MOST)
    part = 1.0 - MOST / len(faces)
    other_points, other_faces = fast_simplification.simplify(points.astype(np.float32), faces, part)
    yield Row(f"{len(faces)} triangles to {MOST} by kinpair", least(lambda: reduced(surface, MOST)), "s")
    yield Row(
        "by fast-simplification",
        least(lambda: fast_simplification.simplify(points.astype(np.float32), faces, part)),
        "s",
    )
    size = float(np.ptp(points, axis=0).max())
    for name, x, f in (
        ("kinpair", coarse.points, coarse.faces),
        ("fast-simplification", other_points, other_faces),
    ):
        own = trimesh.Trimesh(x, f, process=False)
        on_surface, _ = trimesh.sample.sample_surface(own, 300_000, seed=1)
        apart = cKDTree(on_surface).query(points)[0]
        yield Row(f"largest distance of points to the mesh of {name}, of its length", apart.max() / size, "")
        yield Row(f"mean distance, {name}", apart.mean() / size, "")


def file_rows() -> Iterator[Row]:
    """A run as our file and as bare datasets of h5py."""
    m = kp.example("double-pendulum")
    run = kp.simulate(m, [0.3, 0.2], [0, 0], duration=100.0, integrator="rk4", dt=1e-3, output=1e-3)
    folder = Path(tempfile.mkdtemp())

    def bare() -> None:
        with h5py.File(folder / "bare.h5", "w") as file:
            for name in ("time", "q", "qd", "tau", "kinetic", "potential", "work", "loss"):
                file[name] = np.asarray(getattr(run, name, run.time))

    yield Row(
        f"run of {len(run.time)} samples, saved by kinpair", least(lambda: run.save(folder / "run.h5")), "s"
    )
    yield Row("its arrays alone, by h5py", least(bare), "s")
    yield Row("its file", (folder / "run.h5").stat().st_size / 1e6, "MB")
    yield Row("opened by kinpair, checksums compared", least(lambda: kp.load_run(folder / "run.h5")), "s")


def mjcf_rows() -> Iterator[Row]:
    """A humanoid with nested defaults read by kinpair, and compiled by MuJoCo and then read."""
    import gymnasium
    import mujoco

    file = Path(gymnasium.__file__).parent / "envs/mujoco/assets/humanoid.xml"
    flat = Path(tempfile.mkdtemp(), "flat.xml")

    def compiled() -> None:
        mujoco.mj_saveLastXML(str(flat), mujoco.MjModel.from_xml_path(str(file)))
        kp.load(flat)

    yield Row("humanoid.xml, read by kinpair", least(lambda: kp.load(file)), "s")
    yield Row("compiled and written by MuJoCo, then read", least(compiled), "s")
    q = np.random.default_rng(1).normal(size=(5, kp.load(file).nq))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    one, other = (kp.load(x).mass_matrix(q) for x in (file, flat))
    yield Row("difference of the mass matrices, relative", np.abs(one - other).max() / np.abs(one).max(), "")


def _share() -> Path:
    """Robots of the package example-robot-data."""
    return Path(sysconfig.get_path("purelib"), "cmeel.prefix/share/example-robot-data/robots")


def main() -> None:
    """`python -m benchmarks.replacements`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows in (polynomial_rows, mesh_rows, file_rows, mjcf_rows):
            for row in rows():
                print(row, flush=True)


if __name__ == "__main__":
    main()
