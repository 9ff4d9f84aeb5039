"""What MJCF elements and attributes mean for the motion: taken over, of no influence, or refused unless ignored.

The table follows the XML reference of MuJoCo, with older attributes that are still found in files. Every element and
attribute of the installed MuJoCo is in it, which a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ORIENTATION = "quat axisangle xyaxes zaxis euler"
SOFTNESS = "solref solimp"
CONTACT = "friction condim margin gap solmix solref solimp priority surfacevel adhesion"


@dataclass(frozen=True)
class Kind:
    """An element that is read.

    used: attributes that are taken over.
    plain: attributes without influence on the motion, or with none but on contact.
    solver: attributes that tune MuJoCo's own computation, which are named.
    acts: attributes that would change the motion unless they have a certain value -> (that value, what they do).
    """

    used: str = ""
    plain: str = ""
    solver: str = ""
    acts: dict[str, tuple[str, str]] = field(default_factory=dict)

    def knows(self, attribute: str) -> bool:
        """Whether the element may have this attribute."""
        return attribute in self.acts or attribute in f"{self.used} {self.plain} {self.solver}".split()

    @property
    def attributes(self) -> list[str]:
        """All attributes that the element may have."""
        return [*f"{self.used} {self.plain} {self.solver}".split(), *self.acts]


_TRANSMISSION = "joint jointinparent site refsite tendon cranksite slidersite cranklength body"
_ACTUATOR = (
    "name class group ctrllimited ctrlrange forcelimited forcerange gear damping armature delay nsample inheritrange "
    + _TRANSMISSION
)
_SENSED = "lengthrange user interp"

KINDS: dict[str, Kind] = {
    "mujoco": Kind("model"),
    "compiler": Kind(
        "angle assetdir autolimits balanceinertia boundinertia boundmass coordinate eulerseq inertiafromgeom "
        "inertiagrouprange meshdir settotalmass strippath",
        "alignfree conflict convexhull discardvisual exactmeshinertia fitaabb fusestatic passthrough savecanonical "
        "savecompiled saveinertial texturedir usethread",
    ),
    "option": Kind(
        "gravity actuatorgroupdisable",
        "magnetic wind",
        "apirate ccd_iterations ccd_tolerance collision cone impratio integrator iterations jacobian ls_iterations "
        "ls_tolerance mpr_iterations mpr_tolerance noslip_iterations noslip_tolerance o_friction o_margin o_solimp "
        "o_solref realtime sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance",
        {
            "density": ("0", "the medium resists and lifts bodies"),
            "viscosity": ("0", "the medium resists bodies"),
        },
    ),
    "option/flag": Kind(
        "actuation clampctrl constraint contact damper equality frictionloss gravity limit passive spring",
        "energy fwdinv sensor sensornoise",
        "autoreset diagexact eulerdamp filterparent invdiscrete ipc island midphase multiccd nativeccd override "
        "refsafe sleep speculative warmstart",
    ),
    "asset/mesh": Kind(
        "builtin class face file inertia name refpos refquat scale vertex",
        "content_type material maxhullvert normal params smoothnormal texcoord",
    ),
    "asset/material": Kind(
        "class name rgba",
        "emission metallic reflectance roughness shininess specular texrepeat texture texuniform",
    ),
    "worldbody": Kind("name childclass", f"pos user {ORIENTATION}"),
    "body": Kind(
        f"childclass mocap name pos {ORIENTATION}",
        "fuse simple sleep user",
        acts={"gravcomp": ("0", "a force that lifts the body against its weight")},
    ),
    "frame": Kind(
        f"childclass name pos {ORIENTATION}",
        acts={
            "scale": ("1", "another size of everything inside"),
            "massscale": ("1", "other masses inside"),
            "scaling": ("similar", "other forces inside"),
        },
    ),
    "inertial": Kind(f"mass diaginertia fullinertia pos {ORIENTATION}"),
    "joint": Kind(
        "actuatorfrclimited actuatorfrcrange armature axis class damping frictionloss limited margin name pos range "
        "ref solreflimit springdamper springref stiffness type",
        "actuatorgravcomp group user",
        "solimpfriction solimplimit solreffriction",
        {"springyield": ("0", "a spring that yields")},
    ),
    "freejoint": Kind("name", "align group"),
    "geom": Kind(
        "class conaffinity contype density fromto group hfield mass material mesh name pos rgba shellinertia size "
        f"type {ORIENTATION}",
        f"castshadow fitscale fluidcoef fluidshape user {CONTACT}",
    ),
    "site": Kind(f"class fromto name pos {ORIENTATION}", "group material mesh rgba size type user"),
    "equality/connect": Kind("active anchor body1 body2 class name site1 site2", "", SOFTNESS),
    "equality/weld": Kind("active anchor body1 body2 class name relpose site1 site2 torquescale", "", SOFTNESS),
    "equality/joint": Kind("active class joint1 joint2 name polycoef", "", SOFTNESS),
    "actuator/motor": Kind(_ACTUATOR, _SENSED),
    "actuator/position": Kind(f"dampratio kp kv timeconst {_ACTUATOR}", _SENSED),
    "actuator/velocity": Kind(f"kv {_ACTUATOR}", _SENSED),
    "actuator/general": Kind(
        f"actdim actearly actlimited actrange biasprm biastype dynprm dyntype gainprm gaintype {_ACTUATOR}",
        f"ffrange input velrange {_SENSED}",
    ),
}
"""Elements that are read. Elements of default classes are read as the element that they are for."""

APPEARANCE = "appearance only"
CONTACT_ONLY = "contact, which is not computed here"

LEFT_OUT: dict[str, str] = {
    "asset/hfield": CONTACT_ONLY,
    "asset/skin": APPEARANCE,
    "asset/texture": APPEARANCE,
    "camera": APPEARANCE,
    "compiler/lengthrange": "lengths of muscles",
    "contact/exclude": CONTACT_ONLY,
    "contact/pair": CONTACT_ONLY,
    "custom": "data of users",
    "keyframe": "states to start from, which keyframe= chooses",
    "light": APPEARANCE,
    "sensor": "measurements; mbd.sensors and solution[...] give them",
    "size": "memory of MuJoCo",
    "statistic": APPEARANCE,
    "visual": APPEARANCE,
}
"""Elements without influence on the motion, as far as nothing touches -> what they are for."""

REFUSED: dict[str, str] = {
    "actuator/adhesion": "a force at contacts",
    "actuator/cylinder": "a force with a state of its own",
    "actuator/damper": "a damping that is commanded",
    "actuator/dcmotor": "a motor with electrical dynamics",
    "actuator/intvelocity": "a servo with a state of its own",
    "actuator/muscle": "a muscle",
    "actuator/orientation": "a servo of an orientation",
    "actuator/pid": "a servo with several inputs",
    "actuator/plugin": "a force that a plugin computes",
    "asset/model": "another model that is attached",
    "attach": "bodies of another model",
    "composite": "many bodies made from one element",
    "deformable": "deformable bodies",
    "equality/flex": "deformable bodies",
    "equality/flexstrain": "deformable bodies",
    "equality/tendon": "a constraint of tendons",
    "extension": "plugins",
    "flexcomp": "deformable bodies",
    "mesh/plugin": "a surface that a plugin computes",
    "plugin": "forces that a plugin computes",
    "replicate": "copies of bodies",
}
"""Elements without which the motion would be another -> what they are for."""

TENDON = "forces along a tendon"
TENDON_ACTS = ("armature", "damping", "frictionloss", "stiffness")
"""Attributes by which a tendon acts if they are not zero; a range limits its length."""

SECTIONS = {
    name.partition("/")[0]
    for name in (*KINDS, *LEFT_OUT, *REFUSED)
    if name.partition("/")[0]
    not in (
        "attach", "body", "camera", "composite", "flexcomp", "frame", "freejoint", "geom", "inertial", "joint", "light",
        "mesh", "mujoco", "plugin", "replicate", "site",
    )
} | {"default", "tendon"}  # fmt: skip
"""Elements directly below the root."""

IN_BODY = (
    "attach", "body", "camera", "composite", "flexcomp", "frame", "freejoint", "geom", "inertial", "joint", "light",
    "plugin", "replicate", "site",
)  # fmt: skip
"""Elements in a body, in the world and in frames."""

ACTUATORS = tuple(name.partition("/")[2] for name in (*KINDS, *REFUSED) if name.startswith("actuator/"))
DEFAULT_FOR: dict[str, str | None] = {
    "default": None,
    "camera": None,
    "equality": "equality/weld",
    "geom": "geom",
    "joint": "joint",
    "light": None,
    "material": "asset/material",
    "mesh": "asset/mesh",
    "pair": None,
    "site": "site",
    "tendon": None,
    "texture": None,
} | {name: f"actuator/{name}" if f"actuator/{name}" in KINDS else None for name in ACTUATORS}
"""Elements of default classes -> the kind whose attributes they have, or None where nothing of it is read."""

ADVICE = {
    path: "MuJoCo can write what it makes of them: mujoco.mj_saveLastXML(path, model)"
    for path in ("attach", "frame@scale", "replicate", "asset/model")
}
"""What else people can do about what is refused."""
