"""Pictures of what was computed: curves, and mechanisms in three dimensions.

looks      colours, dashes, texts and fonts; panels of curves as pure data; colours of links
curves     curves over time or another quantity
surfaces   surfaces of solids as triangles, fewer triangles of the same form, and the parts of a scene
links      what a link looks like: by the description, or where it draws none
markers    joints, loop closures, wheels, actuators, springs and contact shapes as small solids
scene      what is drawn of a mechanism, as pure data
raster     still pictures in NumPy: the camera, triangles to pixels with depth, the ground and its shadow
still      still pictures, and the same as a stick figure; displays of notebooks
movement   moving a mechanism by hand: a handle for every independent coordinate, in groups, with loops kept closed
recording  a motion to be played, with the lamps that it shows; as a film
report_page  a motion as one page, complete in itself
page_nodes   a scene and its texts in a page of viser
page_player  lamps, points and areas in a page; playing motions in a page
page       the 3-D page; a page that follows a file
"""
