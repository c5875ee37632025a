"""Ten steps of the pushed biped on feet that only push, as docs/gait.md shows them."""

import sys

import kinpair as kp

gait = kp.motion.gait(kp.example("biped"), speed=0.8)
start = kp.walking.pushed(gait, sideways=-0.02, rate=0.1)
x = kp.walking.replay(gait, steps=10, start=start, regulator=kp.walking.regulator(gait), feet="contact")
print(x)
x.plot(
    sys.argv[1] if len(sys.argv) > 1 else "walking-biped.png",
    title="biped pushed by 2 cm and 0.1 rad/s walks on feet that only push",
)
