"""Learn to balance: a random search over linear policies, on 256 cart-poles at a time."""

import sys

import numpy as np

import kinpair as kp

COUNT, TRIED, KEPT = 256, 32, 8  # cart-poles, directions that are tried, best ones of them
REACH, STEP = 0.2, 0.3  # how far a policy is changed to try a direction, and to follow the best ones
ROUNDS = 40 if len(sys.argv) < 2 else int(sys.argv[1])

environments = kp.gymnasium.make_vec("cart-pole", COUNT)
rng = np.random.default_rng(1)
policy = np.zeros(environments.single_observation_space.shape)


def returns(policies):
    """Rewards until a pole falls, for policies (256, 4), one for each environment."""
    seen, _ = environments.reset(seed=int(rng.integers(1 << 30)))
    total, standing = np.zeros(COUNT), np.ones(COUNT, dtype=bool)
    while standing.any():
        actions = np.tanh((policies * seen).sum(axis=-1, keepdims=True))
        seen, rewards, fallen, late, _ = environments.step(actions)
        total += rewards * standing
        standing &= ~(fallen | late)
    return total


curve = [float(returns(np.broadcast_to(policy, (COUNT, policy.size))).mean())]
for _ in range(ROUNDS):
    directions = rng.normal(size=(TRIED, policy.size))
    both = np.concatenate([policy + REACH * directions, policy - REACH * directions])
    plus, minus = returns(np.repeat(both, COUNT // len(both), axis=0)).reshape(2, TRIED, -1).mean(axis=-1)
    best = np.argsort(-np.maximum(plus, minus))[:KEPT]
    spread = np.std([plus[best], minus[best]]) + 1e-6
    policy += STEP / (KEPT * spread) * (plus[best] - minus[best]) @ directions[best]
    curve.append(float(returns(np.broadcast_to(policy, (COUNT, policy.size))).mean()))
print(
    f"mean return before {curve[0]:.0f}, after {ROUNDS} rounds {curve[-1]:.0f} of {environments.motions.longest}"
)

try:
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit()
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot(curve)
axes.set(xlabel="round", ylabel="mean return of 256 cart-poles")
axes.grid(alpha=0.3)
figure.savefig("learning.png", dpi=150)
