"""Many runs: what varies, who computes, and a table of what was found; see docs/sweep.md."""
