"""Numbers of the force laws, as the compiled tables of a system use them."""

# on what an element acts: a coordinate between two bodies, or one body
SPRING = 0  # distance of two points
TORSION_SPRING = 1  # angle of a hinge
FORCE_WORLD = 2
FORCE_BODY = 3
TORQUE_WORLD = 4
TORQUE_BODY = 5
AXIS_SPRING = 6  # displacement along a body-fixed axis

COORDINATES = (SPRING, TORSION_SPRING, AXIS_SPRING)

# how the force depends on that coordinate
LINEAR = 0  # spring and damper about a rest value or a motion, and a further force
FRICTION = 1
LIMIT = 2
