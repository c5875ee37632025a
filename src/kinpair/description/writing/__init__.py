"""Descriptions as files of other formats; what a format cannot represent is reported by name.

report     parts left out, by kind
plain      a description reduced to what a format has: joints in steps, reports of the rest
elements   XML elements with numbers that read back exactly
urdf       URDF text
sdf        SDF text
mjcf       MJCF text
write      `write(mechanism, path)`
"""
