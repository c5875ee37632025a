"""Contact points of a mechanism: shapes, broad phase, one narrow phase for each pair of kinds. In order of use:

    records  geoms and pairs (`Geometry`), contact points (`Found`) as arrays
    points   writing a point: normal, tangents, curvatures; accelerations from curvature
    round    spheres, capsules, planes
    box      a box with planes, spheres, capsules
    box_box  two boxes
    support  what cylinders, ellipsoids, hulls and all others answer to the general narrow phase
    gjk      distance and depth of two convex shapes
    convex   any two convex shapes, and a convex shape on a plane
    broad    boxes around geoms, and a sweep over them
    find     all points of a state: `find_contacts`
    search   the search of a model, callable from Python: `Search`, `ContactPoint`
    lifting  coordinates without overlap

All but `search` and `lifting` are loop functions: plain Python as the reference, machine code in use, callable from
other loop functions without Python. Numbers of geoms and pairs are data: one compiled function serves all mechanisms.

    count = find_contacts(R, p, geometry, found, margin)

R (bodies, 9), p (bodies, 3): axes by rows and origin of each body of the Model in the world, the ground first. `found`
has the points with gap ≤ margin in rows 0 to count − 1, by pair, in an order that does not change; `found.slot` names a
point, so that a multiplier of the last step is found again. count > len(found.gap): the points did not fit; no point is
dropped silently. Materials are in `model.contacts` (`ContactData`: mu, mu_static, restitution, torsional, rolling),
indexed by `found.pair`. `geometry_of(model.contacts)` and `room(model.contacts)` make the records.

See docs/contact.md and docs/equations/contact.md.
"""
