"""Elimination orders of the body/joint graph: minimum degree that never meets a singular pivot.

A saddle point matrix ``[[K, B^T], [B, 0]]`` may not be eliminated in any order: a joint row has no diagonal entry, so
it becomes a regular pivot only through the bodies eliminated before it. All pivots so far are regular if, and only if,
``K`` is regular on the kernel of ``B[J, A]`` and ``B[J, A]`` has full row rank, with ``A`` the eliminated bodies and
``J`` the eliminated joints. The **rank-safe rule** guarantees the rank from the graph alone:

    A joint may be eliminated if at least one of its bodies is eliminated, and the component of eliminated bodies and
    joints which it creates touches at most one thing outside: one body that is not yet eliminated, or the ground.

The reason: joint equations do not change under a common rigid motion, so clamping one single outside body takes
nothing away from the rank. Two outside things can (a bar between two clamped spherical joints has six equations of
rank five). A joint without this invariance acts like one that is attached to the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

FRONT_PRICE = 600.0  # overhead of one front, counted in floating point operations


def front_flops(n: float, m: float) -> float:
    """Operations to eliminate ``n`` pivots from a dense front with ``m`` further rows."""
    return ((n + m) ** 3 - m**3) * (2.0 / 3.0)


@dataclass
class Graph:
    """The coupling graph; vertices of size zero have been taken out of ``adjacent`` (see `build_graph`)."""

    size: list[int]
    is_joint: list[bool]
    grounded: list[bool]
    adjacent: list[set[int]]

    def bodies_of(self) -> list[list[int]]:
        """For every joint its bodies, for every body its joints."""
        kind = self.is_joint
        return [[u for u in near if kind[u] != kind[v]] for v, near in enumerate(self.adjacent)]

    def extent(self) -> int:
        """Length of a longest path through the graph, estimated by going twice to the farthest vertex of each part."""
        seen = [n == 0 for n in self.size]
        longest = 0
        for v in range(len(seen)):
            if not seen[v]:
                part, last = self._levels(v)
                for u in part:
                    seen[u] = True
                longest = max(longest, self._levels(part[-1])[1] if last else 0)
        return longest

    def _levels(self, start: int) -> tuple[list[int], int]:
        """All vertices connected to the first one by increasing distance, and the largest distance."""
        distance = {start: 0}
        found = [start]
        for v in found:  # grows while it is walked through
            further = distance[v] + 1
            for u in self.adjacent[v]:
                if u not in distance:
                    distance[u] = further
                    found.append(u)
        return found, distance[found[-1]]


def build_graph(
    sizes: Sequence[int],
    is_joint: Sequence[bool],
    grounded: Sequence[bool],
    pairs: Sequence[tuple[int, int]],
    rigid: Sequence[bool] | None,
) -> Graph:
    """Collect the neighbours; a body of size zero is ground for the joints attached to it."""
    size, joint = [int(n) for n in sizes], [bool(j) for j in is_joint]
    ground = [bool(g) for g in grounded]
    if rigid is not None:
        ground = [g or (j and not r) for g, j, r in zip(ground, joint, rigid, strict=True)]
    adjacent: list[set[int]] = [set() for _ in size]
    for u, v in pairs:
        if size[u] and size[v]:
            adjacent[u].add(v)
            adjacent[v].add(u)
        elif joint[u] != joint[v]:
            ground[u if joint[u] else v] = True
    return Graph(size, joint, ground, adjacent)


def contract(graph: Graph, massless: Sequence[int]) -> tuple[Graph, list[list[int]]]:
    """The graph in which every massless body is one vertex with its joints, and the vertices that are in each.

    A body without inertia is no pivot on its own. Together with all its joints it is a joint between the bodies around
    it, with unknowns of its own: the rank-safe rule holds for that vertex as for any other joint.
    """
    count = len(graph.size)
    label = list(range(count))

    def find(v: int) -> int:
        while label[v] != v:
            label[v] = v = label[label[v]]
        return v

    light = set(massless)
    for v in light:
        for u in graph.adjacent[v]:
            if graph.is_joint[u] or u in light:
                label[find(u)] = find(v)
    members: list[list[int]] = [[] for _ in label]
    for v in sorted(range(count), key=graph.is_joint.__getitem__):  # bodies first
        members[find(v)].append(v)
    size = [sum(graph.size[u] for u in inside) for inside in members]
    joint = [any(graph.is_joint[u] or u in light for u in inside) for inside in members]
    ground = [any(graph.grounded[u] for u in inside) for inside in members]
    adjacent = [{find(w) for u in inside for w in graph.adjacent[u]} - {v} for v, inside in enumerate(members)]
    return Graph(size, joint, ground, adjacent), members


def eliminate(
    graph: Graph, bodies_first: bool = False, limit: float = float("inf")
) -> tuple[list[int], list[set[int]]] | None:
    """Order of elimination and, per vertex, the later vertices coupled to it at its elimination (its rows).

    Minimum degree with the key n (n + d)^2; ``bodies_first`` replaces the rank-safe rule by "every body before any
    joint" (a Schur complement of the multipliers). Gives up with ``None`` when the flops exceed ``limit``.
    """
    size, is_joint, ground = graph.size, graph.is_joint, graph.grounded
    partners = graph.bodies_of()
    near = [set(s) for s in graph.adjacent]
    count = len(size)
    degree = [sum([size[u] for u in s]) for s in near]
    root = list(range(count))  # union-find over eliminated vertices
    outside = [-1] * count  # per component: the one body outside it
    tied = [False] * count  # per component: contains a joint to the ground
    dead = [n == 0 for n in size]
    stamp = [0] * count  # of the valid heap entry; 0 = blocked
    rows: list[set[int]] = [set()] * count
    order: list[int] = []
    heap: list[tuple[int, int, int]] = []
    clock = 0
    bodies_left = sum(1 for v in range(count) if not is_joint[v] and not dead[v])
    remaining = sum(1 for v in range(count) if not dead[v])
    flops = 0.0

    def find(v: int) -> int:
        while root[v] != v:
            root[v] = v = root[root[v]]
        return v

    def eligible(joint: int) -> bool:
        if bodies_first:
            return bodies_left == 0
        other, tie, started = -1, ground[joint], False
        for b in partners[joint]:
            if dead[b]:
                started = True
                c = find(b)
                tie = tie or tied[c]
                x = outside[c]
                if x < 0 or dead[x]:
                    continue
            else:
                x = b
            if other not in (-1, x):
                return False
            other = x
        return started and not (tie and other >= 0)

    def push(v: int) -> None:
        nonlocal clock
        clock += 1
        stamp[v] = clock
        n = size[v]
        heappush(heap, (n * (n + degree[v]) ** 2, -clock, v))  # ties: newest first, which walks along chains

    for v in range(count):
        if not dead[v] and not is_joint[v]:
            push(v)
    while remaining:
        if not heap:  # joints that wait for the last body, and joints without any body
            for v in range(count):
                if not dead[v]:
                    push(v)
        _, negative, v = heappop(heap)
        if dead[v] or stamp[v] != -negative:
            continue
        n, later = size[v], near[v]
        flops += front_flops(n, degree[v])
        if flops > limit:
            return None
        dead[v] = True
        remaining -= 1
        order.append(v)
        rows[v] = later
        # Components: v becomes the root of everything eliminated that it touches.
        tie, other = ground[v] and is_joint[v], -1
        for b in partners[v]:
            if dead[b]:
                c = find(b)
                tie = tie or tied[c]
                x = outside[c]
                root[c] = v
            else:
                x = b
            if is_joint[v] and x >= 0 and not dead[x]:
                other = x
        tied[v], outside[v] = tie, other
        if not is_joint[v]:
            bodies_left -= 1
        # The elimination graph: the rows become a clique.
        for u in later:
            mine = near[u]
            mine.remove(v)
            degree[u] -= n
            if len(later) > 1:
                new = later - mine
                new.remove(u)
                if new:
                    degree[u] += sum([size[w] for w in new])
                    mine |= new
        for u in later:
            if not is_joint[u] or eligible(u):
                push(u)
            else:
                stamp[u] = 0
    return order, rows


@dataclass
class Tree:
    """Fronts as groups of vertices, children before parents; ``cost`` in flops, overhead of the fronts included."""

    pivots: list[list[int]]
    rows: list[list[int]]
    parent: list[int]
    cost: float


def merge(graph: Graph, order: list[int], rows: list[set[int]]) -> Tree:
    """Merge vertices into fronts wherever a larger dense front costs less than one front more; postorder the tree."""
    size = graph.size
    count = len(size)
    when = [count] * count
    for k, v in enumerate(order):
        when[v] = k
    n = list(size)
    m = [sum([size[u] for u in r]) for r in rows]
    up = [-1] * count  # parent of a vertex in the elimination tree
    joined = [False] * count  # merged into its parent
    cost = 0.0
    for v in order:
        own = front_flops(n[v], m[v])
        cost += own + FRONT_PRICE
        if not rows[v]:
            continue
        up[v] = p = min(rows[v], key=when.__getitem__)
        both = front_flops(n[v] + n[p], m[p])
        if both <= own + front_flops(n[p], m[p]) + 2.0 * m[v] ** 2 + FRONT_PRICE:
            joined[v] = True
            cost -= own + FRONT_PRICE
            n[p] += n[v]
    # The front of a vertex is named by its last pivot; only that vertex' rows survive.
    top = list(range(count))
    members: list[list[int]] = [[] for _ in size]
    for v in reversed(order):
        if joined[v]:
            top[v] = top[up[v]]
    for v in order:
        members[top[v]].append(v)
    children: list[list[int]] = [[] for _ in size]
    roots = []
    for v in order:
        if top[v] == v:
            if up[v] >= 0:
                children[top[up[v]]].append(v)
            else:
                roots.append(v)
    preorder = []  # parents first; the reverse is a postorder
    stack = roots
    while stack:
        v = stack.pop()
        preorder.append(v)
        stack.extend(children[v])
    post = preorder[::-1]
    index = {v: k for k, v in enumerate(post)}
    parent = [index[top[up[v]]] if up[v] >= 0 else -1 for v in post]
    return Tree([members[v] for v in post], [list(rows[v]) for v in post], parent, cost)
