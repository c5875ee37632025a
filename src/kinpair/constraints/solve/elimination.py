"""Elimination for many rows of which few act on each other. Loop functions.

Rows of a contact are one node. The next node to be eliminated is the one that acts on the fewest others, and those then
act on each other (minimum degree). Pivots are chosen within a node. Matrices are stored whole, but only entries of this
pattern are read or written.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.constraints.solve.residual import COUNT, FIRST, NONE, NORMAL, WIDTH, Problem

LISTS = 8  # whole numbers of a row in the memory of an order, before the lists of neighbours
FEW = 4  # where more than a quarter of the entries of D are not zero, LAPACK is faster


class Order(NamedTuple):
    """Nodes in their order of elimination.

    node (n,): node of each row
    first, members (n,): first place and number of the rows of each node in `rows`
    rows (n,): rows, node by node
    order (n,): nodes in their order of elimination
    degree (n,): number of nodes on which each node acts when it is eliminated
    later (n n,): these nodes, from n · node on
    pivot, done (n,): working memory
    """

    node: Integers
    first: Integers
    members: Integers
    rows: Integers
    order: Integers
    degree: Integers
    pivot: Integers
    done: Integers
    later: Integers


def gather(p: Problem, o: Order) -> int:
    """Gather rows to nodes: a normal with its discs, or the rows of another group; return the number of nodes."""
    n, nodes, filled = len(p.g), 0, 0
    o.node[:] = -1
    for k in range(len(p.radii)):
        first, normal = p.table[WIDTH * k + FIRST], p.table[WIDTH * k + NORMAL]
        if normal != NONE:
            if o.node[normal] < 0:
                o.node[normal] = nodes
                nodes += 1
            for i in range(first, first + p.table[WIDTH * k + COUNT]):
                o.node[i] = o.node[normal]
    for k in range(len(p.radii)):
        first = p.table[WIDTH * k + FIRST]
        if o.node[first] < 0:
            for i in range(first, first + p.table[WIDTH * k + COUNT]):
                o.node[i] = nodes
            nodes += 1
    o.members[:] = 0
    for i in range(n):
        o.members[o.node[i]] += 1
    for k in range(nodes):
        o.first[k] = filled
        filled += o.members[k]
        o.members[k] = 0
    for i in range(n):
        k = o.node[i]
        o.rows[o.first[k] + o.members[k]] = i
        o.members[k] += 1
    return nodes


def find_neighbours(p: Problem, o: Order, nodes: int) -> None:
    """List the nodes that share an entry of D with each node, in either direction."""
    n, mark = len(p.g), o.pivot
    mark[:] = -1
    o.degree[:] = 0
    for a in range(nodes):
        for r in range(o.first[a], o.first[a] + o.members[a]):
            for t in range(p.starts[o.rows[r]], p.starts[o.rows[r] + 1]):
                b = o.node[p.columns[t]]
                if b != a and mark[b] != a:
                    mark[b] = a
                    o.later[n * a + o.degree[a]] = b
                    o.degree[a] += 1
    for a in range(nodes):
        for e in range(o.degree[a]):
            b = o.later[n * a + e]
            known = False
            for f in range(o.degree[b]):
                if o.later[n * b + f] == a:
                    known = True
            if not known:
                o.later[n * b + o.degree[b]] = a
                o.degree[b] += 1


def arrange(p: Problem, o: Order) -> int:
    """Write the order of elimination; return the number of nodes."""
    n, nodes, mark = len(p.g), gather(p, o), o.pivot
    find_neighbours(p, o, nodes)
    o.done[:] = 0
    for s in range(nodes):
        k = -1
        for a in range(nodes):
            if o.done[a] == 0 and (k < 0 or o.degree[a] < o.degree[k]):
                k = a
        o.order[s] = k
        o.done[k] = 1
        for e in range(o.degree[k]):
            a = o.later[n * k + e]
            stamp, filled = n + n * s + e, 0
            mark[a] = stamp
            for f in range(o.degree[a]):
                b = o.later[n * a + f]
                if b != k:
                    mark[b] = stamp
                    o.later[n * a + filled] = b
                    filled += 1
            for f in range(o.degree[k]):
                b = o.later[n * k + f]
                if mark[b] != stamp:
                    o.later[n * a + filled] = b
                    filled += 1
            o.degree[a] = filled
    return nodes


def clear(K: Matrix, o: Order, nodes: int) -> None:
    """Set all entries of the pattern to zero."""
    n = len(o.node)
    for k in range(nodes):
        for r in range(o.first[k], o.first[k] + o.members[k]):
            i = o.rows[r]
            for c in range(o.first[k], o.first[k] + o.members[k]):
                K[i, o.rows[c]] = 0.0
            for e in range(o.degree[k]):
                b = o.later[n * k + e]
                for c in range(o.first[b], o.first[b] + o.members[b]):
                    K[i, o.rows[c]] = 0.0
                    K[o.rows[c], i] = 0.0


def subtract(K: Matrix, o: Order, k: int, a: int, i: int) -> None:
    """Subtract a multiple of the row at place a of node k from the row i; the factor is left in its column."""
    n, top = len(o.node), o.rows[a]
    factor = K[i, top] / K[top, top]
    K[i, top] = factor
    if factor == 0.0:
        return
    for c in range(a + 1, o.first[k] + o.members[k]):
        K[i, o.rows[c]] -= factor * K[top, o.rows[c]]
    for e in range(o.degree[k]):
        b = o.later[n * k + e]
        for c in range(o.first[b], o.first[b] + o.members[b]):
            K[i, o.rows[c]] -= factor * K[top, o.rows[c]]


def exchange(K: Matrix, o: Order, k: int, a: int, i: int) -> None:
    """Exchange the row at place a of node k with its row i, from the column of place a on."""
    n, top = len(o.node), o.rows[a]
    for c in range(a, o.first[k] + o.members[k]):
        j = o.rows[c]
        K[i, j], K[top, j] = K[top, j], K[i, j]
    for e in range(o.degree[k]):
        b = o.later[n * k + e]
        for c in range(o.first[b], o.first[b] + o.members[b]):
            j = o.rows[c]
            K[i, j], K[top, j] = K[top, j], K[i, j]


def factor_nodes(K: Matrix, o: Order, nodes: int) -> bool:
    """Factor K in place; False where a pivot is zero or not finite."""
    n = len(o.node)
    for s in range(nodes):
        k = o.order[s]
        last = o.first[k] + o.members[k]
        for a in range(o.first[k], last):
            top = o.rows[a]
            best = top
            for c in range(a + 1, last):
                if abs(K[o.rows[c], top]) > abs(K[best, top]):
                    best = o.rows[c]
            o.pivot[top] = best
            if K[best, top] == 0.0 or not math.isfinite(K[best, top]):
                return False
            if best != top:
                exchange(K, o, k, a, best)
            for c in range(a + 1, last):
                subtract(K, o, k, a, o.rows[c])
            for e in range(o.degree[k]):
                b = o.later[n * k + e]
                for c in range(o.first[b], o.first[b] + o.members[b]):
                    subtract(K, o, k, a, o.rows[c])
    return True


def solve_nodes(K: Matrix, o: Order, nodes: int, x: Vector) -> None:
    """Solve K y = x with the factors of `factor_nodes`; y replaces x."""
    n = len(o.node)
    for s in range(nodes):
        k = o.order[s]
        last = o.first[k] + o.members[k]
        for a in range(o.first[k], last):
            top = o.rows[a]
            best = o.pivot[top]
            value = x[best]
            x[best] = x[top]
            x[top] = value
            for c in range(a + 1, last):
                x[o.rows[c]] -= K[o.rows[c], top] * value
            for e in range(o.degree[k]):
                b = o.later[n * k + e]
                for c in range(o.first[b], o.first[b] + o.members[b]):
                    x[o.rows[c]] -= K[o.rows[c], top] * value
    for s in range(nodes - 1, -1, -1):
        k = o.order[s]
        last = o.first[k] + o.members[k]
        for a in range(last - 1, o.first[k] - 1, -1):
            top = o.rows[a]
            total = x[top]
            for c in range(a + 1, last):
                total -= K[top, o.rows[c]] * x[o.rows[c]]
            for e in range(o.degree[k]):
                b = o.later[n * k + e]
                for c in range(o.first[b], o.first[b] + o.members[b]):
                    total -= K[top, o.rows[c]] * x[o.rows[c]]
            x[top] = total / K[top, top]
