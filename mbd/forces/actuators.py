"""Controls and motors on joints."""

from __future__ import annotations

from typing import Any

from mbd.elements.arguments import Effort, FunctionOfTime, Numbers, Prescribed
from mbd.elements.attributes import declared, not_negative
from mbd.elements.prescribed_motion import as_motion, make_motion
from mbd.forces.on_joint import Driven, effort, positive_or_none
from mbd.forces.row import ForceRow
from mbd.joints.joint import Joint


class PDControl(Driven):
    """Proportional-derivative control of the coordinate of a joint.

    The force along (torque about) the joint's axis on the second body is
    ``kp (target - u) + kd (target_dot - u_dot) + feedforward``, cut off at ``limit`` if one is given. ``target`` is a
    number or a function of time, ``rate`` its derivative, computed if not given; ``feedforward`` is a number, a
    function of time, or one of (t, u, u_dot) as that of a ``JointForce``. ``switches`` lists the times at which these
    functions jump or have a kink, so that step-size control stops there. ``coordinate`` says which coordinate of a
    Cylindrical joint is meant. The attribute ``motion`` is the target; set it to a number or a function of time to
    change it.
    """

    kp = declared("Force per deviation.", not_negative)
    kd = declared("Force per rate of the deviation.", not_negative)
    motion = declared("The target, a number or a function of time.", as_motion)
    feedforward: Any = declared("What is added: a number, or a function of t or of (t, u, u_dot).", effort, default=0.0)
    limit: float | None = declared("Largest force or torque, or None.", positive_or_none, default=None)

    def __init__(
        self, joint: Joint, target: Prescribed = 0.0, kp: float = 0.0, kd: float = 0.0, *,
        rate: FunctionOfTime | None = None, feedforward: Effort = 0.0, limit: float | None = None,
        coordinate: str | None = None, switches: Numbers = (), name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(joint, coordinate, name)
        self._set(kp=kp, kd=kd)
        self._set(motion=make_motion(target, rate, None, self, "target"))
        self._set_given(feedforward=feedforward, limit=limit, switches=switches)

    def rows(self) -> list[ForceRow]:
        law = (self.kp, self.motion.value, self.kd)
        return [self._driven_row(self.feedforward, law, self.limit, motion=self.motion)]
