"""Numbers of the parametrisations, as the compiled tables of a system use them."""

GROUND = 0
POINT = 1
QUATERNION = 2
DIRECTORS = 3
ROTATION_VECTOR = 4
EULER_ANGLES = 5
GENERALIZED = 6
