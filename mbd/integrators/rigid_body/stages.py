"""Stages of splittings into free motion and kicks.

A step is ``kicks[0], flows[0], kicks[1], flows[1], ..., kicks[-1]``, in parts of the step; a kick of zero is left out.
Runge-Kutta-Nystrom splittings [Blanes & Moan 2002] use that the triple bracket of the forces with the free motion
vanishes: the kinetic energy is quadratic in the momenta, also of rotating bodies, so that methods for ``q'' = f(q)``
keep their order. Digits beyond the fifteen that are published follow from the order conditions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Stages(NamedTuple):
    """Parts of a step, see the head of this file."""

    kicks: Array
    flows: Array
    reached: Array  # after each flow, as sums of the flows

    @property
    def longest(self) -> float:
        """The longest flow."""
        return float(np.abs(self.flows).max())


def stages(kicks: tuple[float, ...], flows: tuple[float, ...]) -> Stages:
    """Stages with their times; the last time is one, whatever rounding says."""
    reached = [math.fsum(flows[: k + 1]) for k in range(len(flows) - 1)]
    return Stages(np.array(kicks), np.array(flows), np.array([*reached, 1.0]))


def palindrome(half: tuple[str, ...], count: int) -> tuple[float, ...]:
    """``count`` numbers from the first half of them, which are the same backwards."""
    values = tuple(float(x) for x in half)
    assert len(values) == (count + 1) // 2
    return values + values[: count // 2][::-1]


STRANG_STAGES = stages((0.5, 0.5), (1.0,))
NYSTROM_STAGES = stages((1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0), (0.5, 0.5))
EULER_STAGES = stages((1.0, 0.0), (1.0,))

SRKN6B_FLOWS = (
    "0.2452989571842711234486544562782957",
    "0.6048726657110799236261843298925195",
    "-0.3501716228953510470748387861708151",
)
SRKN6B_KICKS = (
    "0.08298440641740498233489856731317856",
    "0.3963098014983680618539546437070894",
    "-0.03905630492234843733430565342923434",
    "0.1195241940131507862909048848179328",
)
SRKN11B_FLOWS = (
    "0.1232297759462711501601075990764336",
    "0.2905537977995582911524099370517074",
    "-0.1270492126254169972568878091370277",
    "-0.2463317610620754357127064549009313",
    "0.3572088727959278633357700752075325",
    "0.2047770542914702566426133054045709",
)
SRKN11B_KICKS = (
    "0.04146499851826284228254482692962112",
    "0.1981286719180665258890071581562251",
    "-0.04000619210415269278089930255142058",
    "0.07525398430158030944975212372238246",
    "-0.01151138742068775604380885002321054",
    "0.2366699247869307712034040437664024",
)
SRKN14A_FLOWS = (
    "0.03785931984061101347177349586642973",
    "0.1026356331024366033261749923065847",
    "-0.02586788826655834810965088955833682",
    "0.3142414030714464065456240719516435",
    "-0.1301444595174151994955363186099321",
    "0.1064177003695418222458446017582664",
    "-0.008794243128510176799256809463746379",
    "0.207305069056895757630053711498182",
)
SRKN14A_KICKS = (
    "0.09171915262446217085077321353457772",
    "0.1839831700050048789984916461712475",
    "-0.05653436583288916976693514463948823",
    "0.004914688774711814489438773569408504",
    "0.1437611271683618383281476246925262",
    "0.3285676937468034602651153658326323",
    "-0.196411466486454993165031479160904",
)

SRKN6B = stages(palindrome(SRKN6B_KICKS, 7), palindrome(SRKN6B_FLOWS, 6))
SRKN11B = stages(palindrome(SRKN11B_KICKS, 12), palindrome(SRKN11B_FLOWS, 11))
SRKN14A = stages((0.0, *palindrome(SRKN14A_KICKS, 14), 0.0), palindrome(SRKN14A_FLOWS, 15))
