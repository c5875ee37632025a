"""What acts on a mechanism besides inertia and gravity: springs, dampers, friction, applied wrenches."""
