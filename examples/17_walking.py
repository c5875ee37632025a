"""Balance and walking: a trunk over a hip, a biped, and a walker that nothing drives."""

import numpy as np

import kinpair as kp

# A hip moves to and fro, a mass swings below it: how must the trunk move so that no moment is left about the origin?
walker = kp.build(
    kp.Builder("walker")
    .link("hip")
    .link("trunk", mass=35, com=[0, 0, 0.3], inertia=[0, 2, 0])
    .link("swing", mass=10)
    .joint("hip", "prismatic", "ground", "hip", xyz=[0, 0, 0.9], axis="x")
    .joint("trunk", "revolute", "hip", "trunk", axis="y")
    .joint("swing", "prismatic", "ground", "swing", xyz=[0, 0, 0.45], axis="x")
)
given = {
    "hip": kp.motion.fourier(0.0, [0.0], [0.05], period=1.0),
    "swing": kp.motion.fourier(0.0, [-0.15], [0.0], period=1.0),
}
print(kp.motion.synergy(walker, given, free=["trunk"], rows=[kp.motion.moment("y")]), end="\n\n")

# The same for a whole machine: legs as people move them, trunk and arms in balance.
gait = kp.motion.gait(kp.example("biped"), speed=0.8)
print(gait, end="\n\n")

# And a walker without any drive, on a slope of three degrees.
compass = kp.example("compass-walker")
strike = kp.walking.heel_strike(
    compass, "foot", relabel=[[1, -1], [0, -1]], function=lambda time, q, qd: q[1] - 2 * q[0], direction=1
)
print(kp.walking.cycle(compass, [0.27, 0.54], [-1.09, -0.7], strike, slope=np.deg2rad(3), duration=0.73))
