"""Dynamics as functions of tensors of other libraries, with exact derivatives, see docs/tensors.md.

functions     values and derivatives in NumPy, and the step that all libraries take
torch_arrays  `m.torch`: torch.autograd.Function
jax_arrays    `m.jax`: jax.custom_jvp over callbacks, mapped to batches
"""
