"""Import of MJCF files, the format of MuJoCo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from ...elements.arguments import FilePath, Prescribed, Vector
from ...model import Model
from ..files import named
from ..left_out import LeftOut
from ..names import names_to_keep
from ..stops import LIMITS, check_limits, in_coordinates
from .actuators import Actuators
from .build import Built
from .constraints import Equalities
from .document import Document
from .joint_elements import JointElements
from .masses import body_masses
from .meshes import Meshes
from .schema import ADVICE
from .start import Start
from .tendons import note_tendons
from .tree import Tree


def load_mjcf(
    path: FilePath,
    *,
    coordinates: Literal["absolute", "joint"] = "absolute",
    gravity: Vector | None = None,
    positions: Mapping[str, float] | None = None,
    keyframe: str | None = None,
    controls: Mapping[str, Prescribed] | None = None,
    limits: float | None = LIMITS,
    keep: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> Model:
    """A model from an MJCF file, the format of MuJoCo.

    Parameters
    ----------
    coordinates: "absolute", or "joint" for those of the joints (``model.with_coordinates``).
    gravity: instead of that of the file.
    positions: initial angles (rad) and displacements (m) of hinges and slides by name; those of the file otherwise.
    keyframe: name (or number, if it has none) of a state of the file to start from.
    controls: input of actuators by name, numbers or functions of time; zero (or that of the keyframe) otherwise.
    limits: time constant (s) of the elastic stops into which ranges of joints are made, where the file does not say;
        None leaves them out.
    keep: names of bodies without joints and of sites that shall be bodies of their own, such as the tool of a robot;
        otherwise bodies without joints are part of their parents, and sites are left out.
    ignore: paths of what may be left out although the motion will be another, such as "tendon" or "actuator/muscle".

    Bodies, joints, inertias (given, or those of geoms), geoms as shapes, springs, dampers, friction, armatures, ranges,
    motors and servos on joints, and equality constraints are taken over; joints show the values of the file. What is
    left out is named in one warning. docs/import.md has the whole list.
    """
    check_limits(limits)
    left_out = LeftOut(named(path), ignore)
    document = Document(Path(path), left_out)
    tree = Tree(document)
    meshes = Meshes(document)
    start = Start(tree, keyframe, dict(positions or {}))
    actuators = Actuators(tree)
    note_tendons(document)
    document.leave_out_sections(keyframe)
    given = document.gravity() if gravity is None else gravity
    built = Built(tree, body_masses(tree, meshes), meshes, start, given, names_to_keep(keep))
    Equalities(built)
    JointElements(built, actuators, start, dict(controls or {}), limits)
    made = in_coordinates(built.model, coordinates)
    left_out.finish(ADVICE)
    return made
