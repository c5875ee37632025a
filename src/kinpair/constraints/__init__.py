"""What the motion must obey beyond the joints, as rows A q̇ + a = 0, A q̈ = b; and what to do with them."""
