"""Periodic solutions of rows without actuator, by collocation and by multiple shooting.

Collocation: between two points of a mesh, h apart, the accelerations are a polynomial through k_l at Lobatto's points
x_l, both ends among them; so the result has continuous accelerations wherever the given motion has:

    c_j = c + h x_j ċ + h² Σ_l a²_jl k_l,   ċ_j = ċ + h Σ_l a_jl k_l                                  (GS5)
    F(t_j, c_j, ċ_j, k_j) = 0                                                                          (GS6)
    Δk = −J⁻¹(F + G Δy),   J = F_c̈ + h a F_ċ + h² a² F_c,   y = (c, ċ)                                 (GS7)
    Δy_{i+1} = Φ_i Δy_i + d_i,   y_N = σ y_0                                                           (GS8)

a and a² are the integrals, once and twice, of Lagrange's polynomials. (GS7) is done for each part of the mesh alone;
(GS8) is one small linear system.

Multiple shooting with exact derivatives, and Floquet multipliers:

    c̈ = −F_c̈⁻¹ F(t, c, ċ, 0)                             the rows are linear in c̈                    (GS9)
    Φ̇ = [0 1; −F_c̈⁻¹F_c  −F_c̈⁻¹F_ċ] Φ,   Φ(t_i) = 1      variational equations                       (GS10)
    y_{i+1} = φ_i(y_i),   y_N = σ y_0                     by Newton, Δy_{i+1} = Φ_i Δy_i + d_i        (GS11)
    multipliers = eigenvalues of σ⁻¹ Φ_N ... Φ_1                                                       (GS12)

Flow and variational equations are integrated together by Gragg's midpoint rule, extrapolated (Hairer, Nørsett & Wanner,
Solving Ordinary Differential Equations I, section II.9), all parts of the mesh at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np
from numpy.polynomial import legendre

from kinpair.motion.free_rows import FreeRows, GivenMotion, Terms
from kinpair.motion.pieces import Pieces
from kinpair.motion.trajectory import Trajectory

POINTS = 7  # of Lobatto: order 12 at the mesh
ITERATIONS = 40
HALVINGS = 12
EXACT = 1e-13  # of the size of the rows, and of the states
GROUPS = 16  # into which the mesh is joined


class Lobatto(NamedTuple):
    """Points x from 0 to 1, integrals a and a² of Lagrange's polynomials up to each point, and their powers."""

    x: np.ndarray
    a: np.ndarray
    a2: np.ndarray
    powers: np.ndarray  # (power, point): of each polynomial, in x


@cache
def lobatto(n: int = POINTS) -> Lobatto:
    """The points and integrals, by Legendre's polynomials."""
    inner = legendre.Legendre.basis(n - 1).deriv().roots().real
    x = np.concatenate([[-1.0], np.sort(inner), [1.0]])
    inverse = np.linalg.inv(legendre.legvander(x, n - 1))
    units = np.eye(n)
    once, twice = (
        np.stack([legendre.legval(x, legendre.legint(u, m, lbnd=-1)) for u in units], axis=1) for m in (1, 2)
    )
    shifted = [legendre.Legendre(u, domain=[0, 1]).convert(kind=np.polynomial.Polynomial).coef for u in units]
    monomials: np.ndarray = np.stack([np.pad(p, (0, n - len(p))) for p in shifted], axis=1)
    powers = monomials @ inverse
    return Lobatto((x + 1) / 2, once @ inverse / 2, twice @ inverse / 4, powers)


@final
@dataclass(frozen=True, eq=False)
class Mesh:
    """Times (n + 1,) between which the solution is a polynomial, and the given motion at Lobatto's points of each."""

    time: np.ndarray
    given: GivenMotion  # (n · points)

    @property
    def h(self) -> np.ndarray:
        """Lengths of the elements (n,)."""
        return np.diff(self.time)

    @property
    def nodes(self) -> np.ndarray:
        """Times of Lobatto's points (n, points)."""
        return self.time[:-1, None] + self.h[:, None] * lobatto().x


def mesh_of(rows: FreeRows, motion: Trajectory, time: np.ndarray) -> Mesh:
    """The given motion at the points of a mesh: at its ends as it is inside."""
    nodes = time[:-1, None] + np.diff(time)[:, None] * lobatto().x
    parts = [rows.given(motion, nodes[:, 0], "right")]
    parts += [rows.given(motion, nodes[:, j], "") for j in range(1, POINTS - 1)]
    parts += [rows.given(motion, nodes[:, -1], "left")]
    stacked = (np.stack(x, axis=1) for x in zip(*parts, strict=True))
    return Mesh(time, GivenMotion(*(x.reshape(-1, *x.shape[2:]) for x in stacked)))


class Attempt(NamedTuple):
    """A solution or what there is of it: y at the mesh (n + 1, 2 free), k (n, points, free), size of what is left."""

    y: np.ndarray
    k: np.ndarray
    rest: np.ndarray  # |F| at the points (n, points, rows), each row as a part of its size
    steps: int

    @property
    def largest(self) -> float:
        """The largest part of a row that is left."""
        return float(self.rest.max(initial=0.0)) if np.isfinite(self.rest).all() else np.inf


class Collocation:
    """The equations (GS6) on one mesh; `sizes` of the rows."""

    def __init__(self, rows: FreeRows, mesh: Mesh, sizes: np.ndarray) -> None:
        self.rows, self.mesh, self.sizes = rows, mesh, sizes
        self.n = len(rows.names)

    def points(self, y: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """c and ċ at Lobatto's points (n, points, free)."""
        x, a, a2, _ = lobatto()
        h = self.mesh.h[:, None, None]
        c, cd = y[:-1, None, : self.n], y[:-1, None, self.n :]
        return c + h * x[:, None] * cd + h**2 * (a2 @ k), cd + h * (a @ k)  # (GS5)

    def terms(self, y: np.ndarray, k: np.ndarray) -> Terms:
        """F and its derivatives at all points."""
        c, cd = (x.reshape(-1, self.n) for x in self.points(y, k))
        found = self.rows.terms(self.mesh.given, c, cd, np.ascontiguousarray(k.reshape(-1, self.n)))
        lead = (len(self.mesh.h), POINTS)
        return Terms(*(x.reshape(*lead, *x.shape[1:]) for x in found))

    def defects(self, y: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Defects at the next point of the mesh (n, 2 free)."""
        c, cd = self.points(y, k)
        return np.concatenate([c[:, -1], cd[:, -1]], axis=1) - y[1:]

    def step(self, y: np.ndarray, k: np.ndarray, at: Terms, sigma: np.ndarray) -> tuple[np.ndarray, ...]:
        """Newton's step of y and k."""
        particular, response = self.eliminated(at)
        Phi, d = self.transfer(particular, response)
        dy = closed(Phi, d + self.defects(y, k), sigma, sigma * y[0] - y[-1])  # (GS8)
        dk = particular + np.einsum("njab,nb->nja", response, dy[:-1])
        return dy, dk

    def eliminated(self, at: Terms) -> tuple[np.ndarray, np.ndarray]:
        """Δk for Δy = 0 (n, points, free), and its derivative by Δy (n, points, free, 2 free).    (GS7)"""
        x, a, a2, _ = lobatto()
        h, n, r = self.mesh.h, self.n, len(self.mesh.h)
        J = np.einsum("jl,njab->njalb", np.eye(POINTS), at.by_cdd)
        J = J + np.einsum("n,jl,njab->njalb", h, a, at.by_cd)
        J = J + np.einsum("n,jl,njab->njalb", h**2, a2, at.by_c)  # (GS7)
        later = at.by_cd + (h[:, None] * x)[..., None, None] * at.by_c
        G = np.concatenate([at.by_c, later], axis=-1)
        right = np.concatenate([at.F[..., None], G], axis=-1).reshape(r, POINTS * n, 1 + 2 * n)
        found = -np.linalg.solve(J.reshape(r, POINTS * n, POINTS * n), right)
        shaped = found.reshape(r, POINTS, n, 1 + 2 * n)
        return shaped[..., 0], shaped[..., 1:]

    def transfer(self, particular: np.ndarray, response: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Φ_i (n, 2 free, 2 free) and d_i (n, 2 free) of (GS8)."""
        _, a, a2, _ = lobatto()
        h, n = self.mesh.h, self.n
        unit, none = np.eye(n), np.zeros((n, n))
        free = np.stack([np.block([[unit, step * unit], [none, unit]]) for step in h])
        weights = (h[:, None] ** 2 * a2[-1], h[:, None] * a[-1])
        Phi = free + np.concatenate([np.einsum("nj,njab->nab", w, response) for w in weights], axis=1)
        return Phi, np.concatenate([np.einsum("nj,nja->na", w, particular) for w in weights], axis=1)

    def solve(self, y: np.ndarray, k: np.ndarray, sigma: np.ndarray) -> Attempt:
        """Newton's iteration, steps halved where what is left grows; the best attempt where it does not end."""
        at = self.terms(y, k)
        best = self._attempt(y, k, at, 0)
        for step in range(1, ITERATIONS + 1):
            if best.largest <= EXACT and step > 1:
                break
            try:
                dy, dk = self.step(y, k, at, sigma)
            except np.linalg.LinAlgError:
                break
            for halving in range(HALVINGS):
                part = 0.5**halving
                trial = self.terms(y + part * dy, k + part * dk)
                attempt = self._attempt(y + part * dy, k + part * dk, trial, step)
                if attempt.largest < max(best.largest, EXACT) or (step == 1 and np.isfinite(attempt.largest)):
                    break
            else:
                break
            done = attempt.largest >= 0.5 * best.largest and attempt.largest < 1e3 * EXACT
            y, k, at, best = attempt.y, attempt.k, trial, attempt
            if done:
                break
        return best

    def polynomials(self, y: np.ndarray, k: np.ndarray) -> Attempt:
        """k for given y at the mesh."""
        best = self._attempt(y, k, self.terms(y, k), 0)
        for step in range(1, ITERATIONS + 1):
            trial = best.k + self.eliminated(self.terms(y, best.k))[0]
            attempt = self._attempt(y, trial, self.terms(y, trial), step)
            if not attempt.largest < best.largest:
                break
            best = attempt
        return best

    def _attempt(self, y: np.ndarray, k: np.ndarray, at: Terms, steps: int) -> Attempt:
        return Attempt(y, k, np.abs(at.F) / self.sizes, steps)

    def pieces(self, y: np.ndarray, k: np.ndarray) -> Pieces:
        """The solution as a motion of the free coordinates."""
        powers = np.einsum("pj,nja->npa", lobatto().powers, k)
        order = np.arange(POINTS)[:, None]
        h = self.mesh.h[:, None, None]
        twice = h**2 * powers / ((order + 1) * (order + 2))
        ends = [y[:-1, None, : self.n], h * y[:-1, None, self.n :]]
        time = self.mesh.time
        return Pieces(
            float(time[-1]), (self.n,), tuple(time.tolist()), np.concatenate([*ends, twice], axis=1)
        )

    def between(self, motion: Trajectory, free: Trajectory) -> np.ndarray:
        """|F| halfway between Lobatto's points (n, points − 1, rows), each row as a part of its size: an estimate of
        the error of the mesh."""
        nodes = self.mesh.nodes
        time = ((nodes[:, 1:] + nodes[:, :-1]) / 2).ravel()
        x = free.at(time)
        F = self.rows.terms(self.rows.given(motion, time), x.q, x.qd, x.qdd).F
        return np.abs(F).reshape(len(nodes), POINTS - 1, -1) / self.sizes


def closed(Phi: np.ndarray, d: np.ndarray, sigma: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Δy at the mesh (n + 1, size): Δy_{i+1} = Φ_i Δy_i + d_i and Δy_n − σ Δy_0 = gap.    (GS8)

    A few parts of the mesh at a time are joined to one, then all of these are solved for at once: what grows over the
    whole period grows little over one of them.
    """
    borders = np.linspace(0, len(Phi), min(len(Phi), GROUPS) + 1).round().astype(int)
    joined = [_joined(Phi[a:b], d[a:b]) for a, b in pairwise(borders)]
    ends = _cyclic(np.array([x for x, _ in joined]), np.array([x for _, x in joined]), sigma, gap)
    found = [ends[0]]
    for k, (a, b) in enumerate(pairwise(borders)):
        found[-1] = ends[k]
        for i in range(a, b):
            found.append(Phi[i] @ found[-1] + d[i])
    found[-1] = ends[-1]
    return np.array(found)


def _joined(Phi: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Several parts of the mesh as one."""
    whole, offset = Phi[0], d[0]
    for each, own in zip(Phi[1:], d[1:], strict=True):
        whole, offset = each @ whole, each @ offset + own
    return whole, offset


def _cyclic(Phi: np.ndarray, d: np.ndarray, sigma: np.ndarray, gap: np.ndarray) -> np.ndarray:
    n, size = len(Phi), Phi.shape[-1]
    A = np.zeros((n + 1, size, n + 1, size))
    for i in range(n):
        A[i, :, i], A[i, :, i + 1] = -Phi[i], np.eye(size)
    A[n, :, n], A[n, :, 0] = np.eye(size), -np.diag(sigma)
    b = np.concatenate([d, gap[None]])
    return np.linalg.solve(A.reshape(b.size, b.size), b.ravel()).reshape(n + 1, size)


STEPS = (2, 4, 6, 8, 10, 12, 14, 16)  # of the midpoint rule: order 16
DIVERGED = 1e6


class Flow(NamedTuple):
    """States at the ends of the parts (n, 2 free), their derivatives Φ by those at the beginnings, and an error."""

    y: np.ndarray
    Phi: np.ndarray
    error: float


class Shots(NamedTuple):
    """States at the mesh (n + 1, 2 free), transfer matrices, and what is left."""

    y: np.ndarray
    Phi: np.ndarray
    rest: float


class Shooting:
    """Flows from point to point of a mesh (n + 1,)."""

    def __init__(self, rows: FreeRows, motion: Trajectory, time: np.ndarray) -> None:
        self.rows, self.motion, self.time = rows, motion, time
        self.n, self.h = len(rows.names), np.diff(time)

    @cached_property
    def _given(self) -> dict[tuple[int, int], GivenMotion]:
        """The given motion at the points of every row of the extrapolation."""
        found: dict[tuple[int, int], GivenMotion] = {}
        for n in STEPS:
            for j in range(n + 1):
                side = "right" if j == 0 else "left" if j == n else ""
                at = self.time[1:] if j == n else self.time[:-1] + self.h * j / n
                found[n, j] = self.rows.given(self.motion, at, side)
        return found

    def rate(self, given: GivenMotion, Y: np.ndarray) -> np.ndarray:
        """d/dt of [y, Φ] (n, 2 free, 1 + 2 free), or of y alone."""
        n = self.n
        c, cd = (np.ascontiguousarray(x) for x in (Y[:, :n, 0], Y[:, n:, 0]))
        at = self.rows.terms(given, c, cd, np.zeros_like(c))
        cdd = -np.linalg.solve(at.by_cdd, at.F[..., None])[..., 0]  # (GS9)
        if Y.shape[-1] == 1:
            return np.concatenate([Y[:, n:], cdd[..., None]], axis=1)
        at = self.rows.terms(given, c, cd, cdd)
        slopes = np.concatenate([at.by_c, at.by_cd], axis=-1) @ Y[:, :, 1:]
        turned = -np.linalg.solve(at.by_cdd, slopes)  # (GS10)
        lower = np.concatenate([cdd[..., None], turned], axis=-1)
        return np.concatenate([Y[:, n:], lower], axis=1)

    def flow(self, y: np.ndarray, parts: slice = slice(None)) -> Flow:
        """Integrate from the beginning of each part of the mesh to its end; not finite where it diverges."""
        unit = np.broadcast_to(np.eye(2 * self.n), (len(y), 2 * self.n, 2 * self.n))
        with np.errstate(all="ignore"):
            return self._flow(np.concatenate([y[..., None], unit], axis=-1), parts)

    def _flow(self, start: np.ndarray, parts: slice) -> Flow:
        h = self.h[parts, None, None]
        table: list[np.ndarray] = []
        for n in STEPS:
            row = [self._midpoint(start, h / n, n, parts)]
            for k, before in enumerate(table):
                ratio = (n / STEPS[len(table) - 1 - k]) ** 2
                row.append(row[-1] + (row[-1] - before) / (ratio - 1.0))
            table = row
        Y, error = table[-1], np.abs(table[-1] - table[-2]).max()
        return Flow(Y[..., 0], Y[..., 1:], float(error / max(1.0, np.abs(Y).max())))

    def _midpoint(self, start: np.ndarray, h: np.ndarray, n: int, parts: slice) -> np.ndarray:
        """Gragg's rule with n steps; its table is extrapolated from the newest row backwards."""
        given = {j: GivenMotion(*(x[parts] for x in self._given[n, j])) for j in range(n + 1)}
        before, now = start, start + h * self.rate(given[0], start)
        for j in range(1, n):
            before, now = now, before + 2.0 * h * self.rate(given[j], now)
        return 0.5 * (now + before + h * self.rate(given[n], now))

    def solve(self, y: np.ndarray, sigma: np.ndarray) -> Shots:
        """Newton's iteration from states at the mesh (n + 1, 2 free)."""
        flow, rest = self.flow(y[:-1]), np.inf
        for _ in range(ITERATIONS):
            defects, gap = flow.y - y[1:], sigma * y[0] - y[-1]
            size = 1.0 + np.abs(y).max()
            now = max(np.abs(defects).max(), np.abs(gap).max()) / size
            if not np.isfinite(now) or now > DIVERGED or (now >= 0.5 * rest and rest < 1e3 * EXACT):
                break
            rest = now
            y = y + closed(flow.Phi, defects, sigma, gap)  # (GS11)
            flow = self.flow(y[:-1])
        return Shots(y, flow.Phi, float(rest))

    def forward(self, y: np.ndarray) -> np.ndarray:
        """States at the mesh (n + 1, 2 free) from those at time 0, one part after the other."""
        found = [y]
        for i in range(len(self.h)):
            with np.errstate(all="ignore"):
                found.append(self._flow(found[-1][None, :, None], slice(i, i + 1)).y[0])
        return np.array(found)


def multipliers(Phi: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Floquet multipliers, the largest first.    (GS12)"""
    monodromy = np.eye(Phi.shape[-1])
    for each in Phi:
        monodromy = each @ monodromy
    found = np.linalg.eigvals(monodromy / sigma[:, None])  # (GS12)
    return found[np.argsort(-np.abs(found), kind="stable")]
