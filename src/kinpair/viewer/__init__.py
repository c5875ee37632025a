"""Pictures of what was computed: curves, and mechanisms in three dimensions.

looks      colours and dashes of curves, colours of links
labels     names in pictures, and fonts that have their characters
legends    legends outside the axes
panels     panels of curves as pure data; small multiples, equal curves
curves     curves over time or another quantity
surfaces   solids as triangles
simplify   fewer triangles
pieces     the parts of a scene
meshes     what the description says a link looks like
bodies     links that it does not draw: solids of the same inertia, rods to the joints
geoms      shapes that touch, where nothing else is drawn
markers    joints, loop closures and wheels
drives     actuators and springs at joints
long_chain  mechanisms of many links: one rod a link
scene      what is drawn of a mechanism, as pure data
stick      the same as a stick figure
camera     where a picture is taken from
raster     triangles to pixels
ground     grid and shadow
still      still pictures
movement   moving a mechanism by hand: independent coordinates, loops that stay closed
groups     handles in groups, one for each chain of joints
recording  a motion to be played, as pure data
lamps      joints that stick, points and areas that are marked
film       a motion as a film
inline     what notebooks show
report_page  a motion as one page, complete in itself
page_text    text in the panel of a page, escaped
page_nodes   a scene in a page
page_marks   lamps, points and areas in a page
page_player  playing motions in a page
page       the 3-D page
page_file  a page that follows a file
"""
