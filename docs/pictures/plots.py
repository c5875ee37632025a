"""Pictures of plots for the documents: `python docs/pictures/plots.py` writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import kinpair as kp

HERE = Path(__file__).parent


def main() -> None:
    """A run that sticks and slips, the energy of an excavator, the zero-moment point of a biped."""
    from PIL import Image

    slip = kp.example("stick-slip")
    run = kp.simulate(slip, [0], [0], duration=5.0, output=0.01, torque=lambda t, q, qd: 100 * (0.1 * t - q))
    run.plot(HERE / "plot-stick-slip.png")
    digger = kp.example("excavator")
    lift = kp.simulate(digger, digger.start(), np.zeros(digger.nv), duration=1.0, input={"boom": 0.3})
    lift.plot_energy(HERE / "plot-energy.png")
    gait = kp.motion.gait(kp.example("biped"), speed=0.8)
    gait.support_at(np.linspace(0.0, 4 * gait.step_time, 400)).plot(HERE / "plot-support.png")
    for name in ("stick-slip", "energy", "support"):
        file = HERE / f"plot-{name}.png"
        Image.open(file).convert("RGB").quantize(64).save(file, optimize=True)


if __name__ == "__main__":
    main()
