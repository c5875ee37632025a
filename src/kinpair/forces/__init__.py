"""Elements that act on a mechanism in addition to inertia and gravity, one element a file: `element.py` has what each
answers."""
