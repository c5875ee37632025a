"""The history of chapter 1 of Vukobratović, Dynamics of Robots and Manipulators, as mechanisms that run.

The book names the works and gives one or two sentences on each, without numbers: all numbers here are ours.
"""

import numpy as np

import kinpair as kp


def satellite() -> kp.Mechanism:
    """Fletcher, Rongved & Yu 1963: two rigid bodies on a universal joint, with torques in the joint."""
    b = kp.Builder("satellite", gravity=(0, 0, 0))
    b.link("bus", mass=120.0, com=(0.05, 0.02, -0.1), inertia=(40.0, 55.0, 30.0))
    b.link("boom", mass=25.0, com=(0.0, 0.1, 1.4), inertia=(18.0, 17.0, 1.5))
    b.joint("orbit", "free", "ground", "bus")
    b.joint("cross", "universal", "bus", "boom", xyz=(0.1, 0.0, 0.6), axis="x", axis2="y")
    return kp.build(b)


def four_bar() -> kp.Mechanism:
    """Uicker 1968: a closed chain with springs and friction in its joints."""
    b = kp.Builder("loop", gravity=(0, -9.81, 0))
    for name, mass, length in (("crank", 1.5, 0.05), ("output", 5.0, 0.13), ("coupler", 3.0, 0.1)):
        b.link(
            name,
            mass=mass,
            com=[length / 2, 0, 0],
            inertia=(1e-4, mass * length**2 / 12, mass * length**2 / 12),
        )
    b.joint("crank", "revolute", "ground", "crank", friction=0.02, damping=0.01)
    b.joint("output", "revolute", "ground", "output", xyz=[0.15, 0, 0], stiffness=3.0, rest=1.8)
    b.joint("coupler", "revolute", "output", "coupler", xyz=[0.13, 0, 0], damping=0.005)
    b.loop("pin", "revolute", "crank", "coupler", xyz=[0.05, 0, 0], child_xyz=[0.1, 0, 0])
    return kp.build(b)


def field(m: kp.Mechanism, q: np.ndarray, time: float) -> dict[str, np.ndarray]:
    """A field that varies in time: its force on each link, at the mass centre, as a wrench at the link's origin."""
    extra = np.array([0.4 * np.sin(3 * time), 0.2 * np.cos(5 * time), 0.0])  # [m/s²]
    wrenches = {}
    for link in m.model.description.links:
        if link.name in m.model.names[1:]:
            force = link.mass * extra
            arm = m.pose(q, link.name).rotation @ np.array(link.com)
            wrenches[link.name] = np.concatenate([np.cross(arm, force), force])
    return wrenches


def kahn_arm() -> kp.Mechanism:
    """Kahn & Roth 1971: three segments on hinges, the second and third about parallel axes."""
    b = kp.Builder("kahn-arm")
    b.link("post", mass=4.0, com=(0, 0, 0.2), inertia=(0.08, 0.08, 0.02))
    b.link("upper", mass=2.5, com=(0.22, 0, 0), inertia=(0.004, 0.05, 0.05))
    b.link("lower", mass=1.5, com=(0.18, 0, 0), inertia=(0.002, 0.02, 0.02))
    b.joint("turn", "revolute", "ground", "post", axis="z")
    b.joint("shoulder", "revolute", "post", "upper", xyz=(0, 0, 0.4), axis="y")
    b.joint("elbow", "revolute", "upper", "lower", xyz=(0.45, 0, 0), axis="y")
    return kp.build(b)


def polar_arm(*, gripper: bool) -> kp.Mechanism:
    """Bejczy: a manipulator of polar coordinates, with a gripper of three freedoms or without it."""
    b = kp.Builder("polar-arm")
    b.link("post", mass=5.0, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.05))
    b.link("carriage", mass=3.0, com=(0, 0, 0), inertia=(0.04, 0.03, 0.04))
    b.link("boom", mass=2.0, com=(-0.3, 0, 0), inertia=(0.002, 0.09, 0.09))
    b.joint("turn", "revolute", "ground", "post", axis="z")
    b.joint("lift", "revolute", "post", "carriage", xyz=(0, 0, 0.3), axis="-y")
    b.joint("reach", "prismatic", "carriage", "boom", axis="x")
    if gripper:
        for k, (name, axis) in enumerate((("roll", "x"), ("pitch", "y"), ("yaw", "z")), start=1):
            b.link(f"hand{k}", mass=0.4, com=(0.04, 0, 0), inertia=(3e-4, 5e-4, 5e-4))
            b.joint(
                name,
                "revolute",
                "boom" if k == 1 else f"hand{k - 1}",
                f"hand{k}",
                xyz=(0.05, 0, 0),
                axis=axis,
            )
    return kp.build(b)


def koronev(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Koronev: Lagrange's equations of free bodies in 6n coordinates, expressed by 6n − h generalised coordinates.

    A body has its mass centre r and Euler angles η: Q_r = m (r̈ − g), Q_η = Πᵀ(J ε + ω × J ω). With ∂r/∂q = J_T and
    ∂η/∂q = Π⁻¹ R J_R the coupling forces drop out: τ = Σ J_Tᵀ Q_r + (∂η/∂q)ᵀ Q_η.
    """
    bodies = kp.formulation("zhao-gu").arrays(m, q, qd, qdd)
    angles = kp.formulation("popov/euler").arrays(m, q, qd, qdd)
    tau = np.zeros(m.nv)
    for i, body in enumerate(m.model.body[1:]):
        R, Pi = angles.R[i], angles.Pi[i]
        omega, epsilon, J = angles.omega[i], angles.epsilon[i], R @ body.I @ R.T
        acceleration = bodies.J_T[i] @ qdd + bodies.K_T[i] @ bodies.Y_dot2
        Q_r = body.m * (acceleration - m.model.gravity)
        Q_eta = Pi.T @ (J @ epsilon + np.cross(omega, J @ omega))
        tau += bodies.J_T[i].T @ Q_r + np.linalg.solve(Pi, R @ bodies.J_R[i]).T @ Q_eta
    return tau


def ossenberg_franzes(
    m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Ossenberg-Franzes 1973: Newton–Euler equations of all bodies, reduced step by step by the constraints.

    The unknowns are the accelerations of all bodies, six each, and the multipliers of all joints. From the tips inward,
    each body and its joint are eliminated from the equations of the others. Returns the accelerations (6n,) and the
    number of equations left after each step.
    """
    x = kp.formulation("screw").arrays(m, q, qd, tau=tau)
    bodies, joints = x.symbol("C").rows.spans, x.symbol("C").columns.spans
    size = len(x.a)
    matrix = np.block([[-x.I, x.C], [x.C.T, np.zeros((x.C.shape[1],) * 2)]])
    right, left, steps, counts = np.concatenate([x.f_p, x.c_a]), list(range(len(matrix))), [], []
    for body, joint in reversed(list(zip(bodies, joints, strict=True))):
        own = [*range(body.start, body.stop), *range(size + joint.start, size + joint.stop)]
        left = [k for k in left if k not in own]
        inner = matrix[np.ix_(own, own)]
        steps.append((own, left, matrix[np.ix_(own, left)], inner, right[own].copy()))
        across = matrix[np.ix_(left, own)]
        matrix[np.ix_(left, left)] -= across @ np.linalg.solve(inner, matrix[np.ix_(own, left)])
        right[left] -= across @ np.linalg.solve(inner, right[own])
        counts.append(len(left))
    found = np.zeros(len(matrix))
    for own, others, across, inner, rest in reversed(steps):
        found[own] = np.linalg.solve(inner, rest - across @ found[others])
    return found[:size], counts


def apart(found, expected) -> float:
    """Relative difference: max|Δ| / max(1, max|reference|)."""
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def tell() -> None:
    """Print what each of the works is about, with numbers."""
    craft = satellite()
    q = craft.neutral() + np.array([0, 0, 0, 0, 0, 0, 0, 0.4, -0.3])
    qd, tau = np.array([0.1, -0.2, 0.3, 0, 0, 0, 0.5, -0.4]), np.array([0, 0, 0, 0, 0, 0, 2.0, -1.0])
    qdd = craft.forward_dynamics(q, qd, tau)
    print(
        "Fletcher, Rongved & Yu: satellite with a universal joint, accelerations of the joint",
        qdd[6:].round(6),
    )
    augmented = kp.formulation("roberson-wittenburg/augmented")
    by_bodies = augmented.forward_dynamics(craft, q, qd, tau)
    print(f"Hooker & Margulies: by augmented bodies, apart by {apart(by_bodies, qdd):.0e}")
    x = augmented.arrays(craft, q, qd, tau=tau)
    print(f"Hooker: of {x.Phi.shape[0]} equations with constraint torques {x.a2.shape[1] - 3} are left")
    names, between = craft.model.names[1:], craft.split()[0].model.names[1:]
    print(f"Likins: joints of one degree with massless bodies between, {names} become {between}")

    linkage = four_bar()
    q = linkage.assemble([np.pi / 3, 2.0, 2.0], fixed=["crank"])
    qd = linkage.velocities(q, {"crank": 4.0})
    acting = {"external": field(linkage, q, 0.7), "time": 0.7}
    qdd = linkage.forward_dynamics(q, qd, [0.3, 0, 0], method="uicker", **acting)
    print("Uicker: closed chain with springs, friction and a field that varies in time:", qdd.round(4))

    arm = kahn_arm()
    printed = kp.equations(arm)
    print(f"Kahn: three segments, {printed.terms} terms in H, C and g; Uicker's coefficients D_ijk:")
    print(kp.formulation("uicker").arrays(arm, [0.2, 0.5, -0.6], [1, 1, 1]).D_ijk.round(4).tolist())

    polar = kp.equations(polar_arm(gripper=False))
    print("Bejczy: energies of a polar arm without its gripper")
    print(polar.kinetic_energy.text(polar.kinetic_energy.formula))
    print(polar.potential_energy.text(polar.potential_energy.formula))
    whole = kp.equations(polar_arm(gripper=True), form="terms")
    print(f"    T has {polar.kinetic_energy.terms} terms, with the gripper {whole.kinetic_energy.terms}")

    q, qd, qdd = np.array([0.2, 0.5, -0.6]), np.array([1.0, -0.5, 0.3]), np.array([0.5, 1.0, -1.0])
    n, f = len(arm.model.moving), arm.nv
    print(
        f"Koronev: 6n = {6 * n} coordinates, h = {6 * n - f} couplings, 6n − h = {f} equations, apart by",
        end=" ",
    )
    print(f"{apart(koronev(arm, q, qd, qdd), arm.inverse_dynamics(q, qd, qdd)):.0e}")

    tau = np.array([1.0, 5.0, 2.0])
    found, counts = ossenberg_franzes(arm, q, qd, tau)
    reference = kp.formulation("screw").arrays(arm, q, qd, tau=tau).a
    print(f"Ossenberg-Franzes: equations left {counts}, accelerations apart by {apart(found, reference):.0e}")


if __name__ == "__main__":
    tell()
