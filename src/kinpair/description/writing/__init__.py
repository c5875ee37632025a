"""Descriptions as files of other formats; what a format cannot represent is reported by name.

plain  parts that the writers share: a description reduced to what a format has, reports of the rest, XML elements
urdf   URDF text
sdf    SDF text
mjcf   MJCF text
write  `write(mechanism, path)`
"""
