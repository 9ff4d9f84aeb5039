"""Parameters, counters and the progress of the iteration of implicit methods with a fixed step."""

from __future__ import annotations

from ..compiled.kinds import integer, matrix, real, vector
from ..compiled.record import Record


class NewtonNumbers(Record):
    """What the time loop, Newton's iteration and the equations of a method tell each other."""

    # parameters
    origin = real  # time of step 0
    step = real
    tolerance = real
    limit = integer  # of iterations
    stagnation = real  # multiple of the tolerance that is accepted when round-off stops the iteration
    enough_at_once = real  # multiple of the tolerance that ends the iteration before the first correction,
    enough = real  # after it,
    enough_later = real  # and after more of them
    trusted = integer  # whether a residual below the tolerance gets a last correction that is not checked
    phases = integer  # systems of equations that a step solves, one after the other
    parts = integer  # of a step that is a composition of others, zero if it is none,
    whole = real  # its length,
    lengths = vector  # theirs, as parts of it,
    begins = vector  # and where they begin and end
    # memory: survives between calls, part of a restart
    history = integer  # steps since the start, or since something that forbids extrapolation; RENEW after a failure
    iterations = integer
    factorisations = integer
    verdict = integer  # see ``verdicts``
    error = real  # last residual, relative to the tolerance; zero after a last correction
    smallest_ratio = real  # of pivots
    factored = integer  # whether there are factors of an earlier step
    stiff = integer  # whether forces belong to the matrix
    nearest = integer  # the first guess that was nearest to the solution of the last step
    usual_sign = integer  # of the determinant of the iteration matrix at solutions, zero before one is known
    # the present step
    index = integer  # number of the step: of those done since the origin
    time = real  # of its start
    end = real  # and of its end
    phase = integer
    attempt = integer
    guess = integer  # first guess of this attempt, negative if there is none left
    again = integer  # whether an earlier attempt overshot
    watched = integer  # whether the first correction may show that the first guess has overshot
    retry = integer  # whether the method wants to try the step once more
    # the present iteration
    iteration = integer
    before = real  # error one
    earlier = real  # and two iterations ago
    best = real  # least error
    stalled = integer  # iterations that have not halved it
    moved = real  # size of the last correction, see ``correction_size``
    sign = integer  # of the determinant of the last matrix, zero where the method does not ask for it
    first_sign = integer  # of that at the first guess
    last = integer  # whether the correction under way is the last one
    worst = integer  # row of the largest residual
    done = integer  # steps of the last call
    scales = vector  # of the equations, see ``newton``
    weights = vector  # one over those of forces
    start_frames = matrix  # at the start of the step and at the iterate; none if any solution will do
    end_frames = matrix


RENEW = -1
MOST_PARTS = 40
NEVER = 1e300  # of errors and sizes that are not known yet
