"""Pictures of what was computed: curves, and mechanisms in three dimensions.

looks      colours and dashes of curves, colours of links
labels     names in pictures, and fonts that have their characters
panels     panels of curves as pure data; small multiples, equal curves
curves     curves over time or another quantity
surfaces   surfaces of solids as triangles, fewer triangles of the same form, and the parts of a scene
meshes     what the description says a link looks like
bodies     links that the description does not draw, one by one and in long chains
markers    joints, loop closures, wheels, actuators, springs and contact shapes as small solids
scene      what is drawn of a mechanism, as pure data
raster     still pictures in NumPy: the camera, triangles to pixels with depth, the ground and its shadow
still      the same as a stick figure; still pictures
movement   moving a mechanism by hand: a handle for every independent coordinate, in groups, with loops kept closed
recording  a motion to be played, and the lamps that it shows
film       a motion as a film
inline     what notebooks show
report_page  a motion as one page, complete in itself
page_nodes   a scene and its texts in a page of viser
page_player  lamps, points and areas in a page; playing motions in a page
page       the 3-D page; a page that follows a file
notebook   what notebooks show of a mechanism; tables of HTML
"""
