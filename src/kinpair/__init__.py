"""kinpair: dynamics of robots and mechanisms."""
