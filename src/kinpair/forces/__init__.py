"""What acts on a mechanism besides inertia and gravity, one element a file: `element.py` has what each answers."""
