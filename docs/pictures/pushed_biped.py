"""The biped pushed to the side and led back, as docs/gait.md shows it; and the figures of all pushes beside it."""

import sys

import numpy as np

import kinpair as kp

gait = kp.motion.gait(kp.example("biped"), speed=0.8)
regulator = kp.walking.regulator(gait)
for way, name in ((0.02, "forward"), (-0.02, "forward"), (0.02, "sideways"), (-0.02, "sideways")):
    for rate in (0.1, -0.1):
        start = kp.walking.pushed(gait, **{name: way}, rate=rate)
        x = kp.walking.replay(gait, steps=2, start=start, regulator=regulator)
        pulls = [p for s in x.support for p in s.pulls.values()]
        worst = max(pulls, key=np.max)
        print(
            f"| {name} {1e3 * way:+.0f} mm, {rate:+.1f} rad/s | {' → '.join(f'{1e3 * d:.1f}' for d in x.distances)} "
            f"| {1e3 * min(s.margin.min() for s in x.support):.0f} | {max(s.friction.max() for s in x.support):.2f} "
            f"| {max(s.slip.max() for s in x.support):.2f} | {worst.max():.1f} |"
        )
        if (name, way, rate) == ("sideways", -0.02, 0.1):
            x.plot(
                sys.argv[1] if len(sys.argv) > 1 else "pushed-biped.png",
                title="biped pushed by 2 cm and 0.1 rad/s",
            )
