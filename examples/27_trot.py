"""A quadruped stands and trots: position servos follow a table of joint angles, and feet push on the floor."""

import numpy as np

import kinpair as kp

m = kp.example("quadruped")
LENGTH, HEIGHT = 0.2, 0.3  # of thigh and of shank; of the hips above the feet [m]
PERIOD, STRIDE, LIFT = (
    0.4,
    0.1,
    0.05,
)  # [s]; way of a foot while it is down, and its height while it swings [m]


def angles(x, z):
    """Hip and knee angles that bring a foot x in front of the hip and z below it [rad]."""
    knee = -2 * np.arccos(np.hypot(x, z) / (2 * LENGTH))
    return np.arctan2(-x, z) - knee / 2, knee


def trot(periods):
    """Times (n,) and inputs of the servos (n, 12): feet go back for half a period, then swing forward."""
    phase = np.arange(24) / 24
    down, swing = phase < 0.5, 2 * np.pi * (phase - 0.5)
    x = np.where(down, STRIDE * (0.5 - 2 * phase), -STRIDE / 2 * np.cos(swing))
    hip, knee = angles(x, HEIGHT - np.where(down, 0.0, LIFT * np.sin(swing) ** 2))
    table = np.zeros((24, m.nu))
    for leg, shift in {"fl": 0, "hr": 0, "fr": 12, "hl": 12}.items():  # diagonal legs move together
        table[:, m.u_names.index(f"{leg} hip")] = np.roll(hip, shift)
        table[:, m.u_names.index(f"{leg} knee")] = np.roll(knee, shift)
    return PERIOD * np.arange(24 * periods + 1) / 24, np.vstack([np.tile(table, (periods, 1)), table[:1]])


stand = kp.simulate(m, duration=1.0, input=m.start()[7:])
print(f"stands at {stand.q[-1, 2]:.4f} m, largest rate {abs(stand.qd[-1]).max():.1e}")

run = kp.simulate(m, duration=5 * PERIOD, input=trot(5), output=0.01)
print(f"trots {run.q[-1, 0]:.3f} m in {run.time[-1]:.1f} s")
for name, foot in run.contacts.pairs.items():
    print(
        f"{name}: largest normal force {foot.normal.max():.0f} N, down {(foot.normal > 0).mean():.0%} of the time"
    )
print(
    f"lost in impacts {run.contacts.impact_loss[-1]:.2f} J, in friction {run.contacts.friction_loss[-1]:.2f} J"
)
