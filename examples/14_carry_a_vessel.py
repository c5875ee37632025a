"""An arm carries an open vessel with water 1 m in 2 s: tilted, upright, and in a closed loop that knows too little."""

from dataclasses import replace

import numpy as np

import kinpair as kp

arm = kp.example("vessel-arm")
tank = kp.motion.Tank(radius=0.05, fill=0.10, height=0.13)
pose = arm.pose(arm.start(), "vessel")
path = kp.motion.line(
    pose, kp.FramePose(pose.rotation, pose.position + np.array([0.0, 1.0, 0.0])), duration=2.0
)

# The first mode of the water is not excited where the vessel points to the apparent vertical of its mass.
ways = {
    way: kp.motion.vessel(arm, path, frame="vessel", tank=tank, way=way, settle=0.5)
    for way in ("aligned", "upright")
}
print(*ways.values(), sep="\n")
print(kp.motion.nominal(arm, ways["aligned"].motion))

# The same in a closed loop: the water is a fifth heavier than the regulator knows, and the arm starts beside its path.
liquid = ("water", "wave1", "wave2")
known = arm.model.description
heavier = replace(
    known,
    links=tuple(replace(x, mass=1.2 * x.mass) if x.name in liquid else x for x in known.links),
    joints=tuple(
        replace(x, stiffness=tuple(1.2 * k for k in x.stiffness)) if x.name.startswith("wave") else x
        for x in known.joints
    ),
)
inertia = dict(zip(arm.v_names[:6], np.diag(arm.mass_matrix(arm.start()))[:6], strict=True))
for frequency in (20.0, 0.0):  # of the loop [rad/s]; 0: the efforts of the plan alone
    regulator = kp.regulator.pd(
        arm,
        ways["aligned"].motion,
        kp={name: frequency**2 * x for name, x in inertia.items()},
        kd={name: 2 * frequency * x for name, x in inertia.items()},
    )
    most = dict(zip(arm.v_names, arm.model.joints.effort, strict=True))
    loop = kp.regulator.in_loop(
        regulator, sample_time=1e-3, saturation={**most, **dict.fromkeys(arm.v_names[6:], 1e-12)}
    )
    run = kp.track(
        arm,
        ways["aligned"].motion,
        loop,
        plant=kp.build(heavier),
        off={"waist": 0.02, "shoulder": -0.02, "wrist": 0.03},
        integrator="rk4",
        dt=1e-3,
        output=5e-3,
    ).run
    waves = run.q[:, 6:].reshape(-1, 2, 2)  # of both modes, along x and y of the vessel
    highest = np.sqrt(((tank.waves[:, None] * waves).sum(1) ** 2).sum(-1)).max()
    told = "nothing is spilled" if highest < tank.freeboard else "the water is gone"
    print(
        f"loop of {frequency:g} rad/s: waves up to {1e3 * highest:.3g} mm of {1e3 * tank.freeboard:.0f} mm, {told}"
    )
