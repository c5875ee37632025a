"""Environments of Gymnasium over the batched stepper, see docs/learning.md.

tasks        what is observed, rewarded and ended, for arrays of any number of motions; many motions of a task at a time
environment  one motion as `gymnasium.Env`, many as `gymnasium.vector.VectorEnv`
public       `make`, `make_vec`, and the names registered with Gymnasium
"""
