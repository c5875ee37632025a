"""Environments of Gymnasium over the batched stepper, see docs/learning.md.

tasks        what is observed, rewarded and ended, for arrays of any number of motions
motions      many motions of a task at a time: start, step, observe
environment  one motion as `gymnasium.Env`
vector       many motions as `gymnasium.vector.VectorEnv`
public       `make`, `make_vec`, and the names registered with Gymnasium
"""
