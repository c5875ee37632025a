"""Pictures of what was computed: curves, and mechanisms in three dimensions.

looks      colours and dashes of curves, colours of links
legends    legends outside the axes
curves     curves over time or another quantity
surfaces   solids as triangles
pieces     the parts of a scene
meshes     what the description says a link looks like
bodies     links that it does not draw: solids of the same inertia, rods to the joints
markers    joints, loop closures and wheels
scene      what is drawn of a mechanism, as pure data
stick      the same as a stick figure
camera     where a picture is taken from
raster     triangles to pixels
ground     grid and shadow
still      still pictures
"""
