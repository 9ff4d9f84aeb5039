"""Numbers of the frame elements, as the compiled tables of a system use them."""

ROLLING = 0
DRAG = 1
GREEN_SPRING = 2
GRAVITATION = 3
TWIST = 4
LAW_SPRING = 5
USER_FORCE = 6
USER_POTENTIAL = 7
USER_CONSTRAINT = 8
HOLDING = 9

USES_VELOCITIES = 1  # a user force may look at velocities
USES_TURNS = 2  # its derivatives may depend on the axes or angular velocities of its bodies
