"""A step at a time: an environment for learning, in the form of Gymnasium, over a stepper."""

import numpy as np

import kinpair as kp

s = kp.stepper(kp.example("cart-pole"), dt=1e-3)


class CartPole:
    """20 ms a step; derive it from gymnasium.Env to use it there."""

    def reset(self, seed=None):
        q, qd = s.reset(np.random.default_rng(seed).uniform(-0.05, 0.05, 2))
        return np.concatenate([q, qd]), {}

    def step(self, action):
        q, qd = s.step([float(action[0]), 0.0], steps=20)
        fallen = bool(abs(q[1]) > 0.5 or abs(q[0]) > 2.4)
        return np.concatenate([q, qd]), 1.0, fallen, s.time >= 10.0, {}


environment = CartPole()
observation, _ = environment.reset(seed=1)
print(kp.example("cart-pole").q_names, "begin at", observation.round(4))
for _ in range(50):
    observation, reward, fallen, late, _ = environment.step([0.0])
    if fallen or late:
        break
print(f"without a controller it falls at t = {s.time:.2f} s")
