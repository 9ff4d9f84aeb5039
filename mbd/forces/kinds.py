"""Numbers of the force laws, as the compiled tables of a system use them."""

SPRING = 0
TORSION_SPRING = 1
FORCE_WORLD = 2
FORCE_BODY = 3
TORQUE_WORLD = 4
TORQUE_BODY = 5
AXIS_SPRING = 6
