"""Elements that act on a mechanism in addition to inertia and gravity; `element.py` has what each answers."""
