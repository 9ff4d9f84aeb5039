"""What of MJCF files is left out: named, refused, or known to be of no influence; nothing is dropped silently."""

from __future__ import annotations

import re
import warnings

import mujoco
import pytest

import mbd
from mbd.io.mjcf import schema


def actuators(text):
    return {"tail": f"<actuator>{text}</actuator>"}


def equalities(text):
    return {"tail": f"<equality>{text}</equality>"}


BODY = '<body name="b"><joint name="j" {joint}/><geom name="g" size=".1"/>{inside}</body>'
FILE = "<mujoco>{head}<worldbody>" + BODY + "{beside}</worldbody>{tail}</mujoco>"


def load(tmp_path, ignore=(), **parts):
    """The model and the texts of warnings."""
    path = tmp_path / "model.xml"
    path.write_text(FILE.format(**{"head": "", "joint": "", "inside": "", "beside": "", "tail": ""} | parts))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = mbd.load_mjcf(path, ignore=ignore)
    return model, [str(warning.message) for warning in caught]


def schema_of_mujoco():
    """(path of parents, element, attributes) of everything that the installed MuJoCo knows."""
    found, parents = [], []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        start = re.match(r"^( *)(\S+) \((.)\) *(.*)$", line)
        if start:
            depth = len(start[1]) // 3
            parents[depth:] = [start[2].replace("(world)body", "body")]
            found.append((tuple(parents[:-1]), parents[-1], start[4].split()))
        elif line.strip():
            found[-1][2].extend(line.split())
    return found


def test_every_element_and_attribute_of_mujoco_is_known():
    """Whatever stands below something that is left out as a whole is left out with it."""
    whole = {*schema.LEFT_OUT, *schema.REFUSED}
    unknown, count = [], 0
    for parents, name, attributes in schema_of_mujoco():
        if not parents or name in ("default", "layer", "config") or "default" in parents:
            continue
        count += 1
        section = parents[1] if len(parents) > 1 else ""
        paths = [f"{section}/{name}", f"{parents[-1]}/{name}", name]
        if any(part in whole or f"{section}/{part}" in whole for part in (*parents[1:], section)):
            continue
        if any(path in whole for path in paths) or (name in schema.SECTIONS and not attributes) or section == "tendon":
            continue
        path = next((path for path in paths if path in schema.KINDS), None)
        if path is None:
            unknown.append(f"{'/'.join(parents)}/{name}")
            continue
        unknown += [f"{path}@{attribute}" for attribute in attributes if not schema.KINDS[path].knows(attribute)]
    assert unknown == [] and count > 100


def test_every_default_of_mujoco_is_known():
    elements = {name for parents, name, _ in schema_of_mujoco() if parents == ("mujoco", "default")}
    assert elements - set(schema.DEFAULT_FOR) == set() and len(elements) > 15


def test_names_of_what_is_left_out(tmp_path):
    """One warning, with what matters first."""
    _, messages = load(
        tmp_path,
        head='<option timestep="0.01"/><visual/><asset><texture name="t" type="2d" builtin="flat"/></asset>',
        inside='<camera name="c"/><light/><site name="s"/>',
        beside='<geom name="floor" type="plane" size="1 1 1"/>',
        tail='<sensor><clock/></sensor><contact><exclude name="x" body1="b" body2="world"/></contact>'
        '<tendon><fixed name="f"><joint joint="j" coef="1"/></fixed></tendon><keyframe><key/></keyframe>',
    )
    assert len(messages) == 1
    listed = messages[0].partition("left out: ")[2]
    for words in (
        "contact ('floor', 'g'): contact of geoms: bodies go through each other",
        "contact/exclude ('x'): contact, which is not computed here",
        "tendon/fixed ('f'): lengths of tendons, which exert no force by themselves",
        "site ('s'): places on bodies, which keep= makes bodies",
        "asset/texture ('t')",
        "camera ('c')",
        ": appearance only",
        "option (timestep): settings of MuJoCo's solver; step and method are arguments of mbd.simulate",
        "sensor (line 1): measurements",
        "keyframe (line 1): states to start from",
    ):
        assert words in listed, words
    assert listed.index("contact of geoms") < listed.index("appearance only")


def test_nothing_is_said_of_a_plain_file(tmp_path):
    assert load(tmp_path)[1] == []
    beside = '<geom name="floor" type="plane" size="1 1 1"/>'
    assert load(tmp_path, beside=beside, head='<option><flag contact="disable"/></option>')[1] == []
    assert load(tmp_path, beside=beside, ignore=["contact"])[1] == []
    assert load(tmp_path, beside=beside.replace("name", 'contype="2" conaffinity="4" name'))[1] == []


TENDON = '<tendon><fixed name="f" {}><joint joint="j" coef="1"/></fixed></tendon>'


@pytest.mark.parametrize(
    ("parts", "path", "words"),
    [
        ({"head": '<option density="1.2"/>'}, "option@density", "the medium resists and lifts bodies"),
        ({"head": '<option viscosity="1e-3"/>'}, "option@viscosity", "the medium resists bodies"),
        ({"joint": 'springyield="0.1"'}, "joint@springyield", "a spring that yields"),
        ({"beside": '<body gravcomp="1"/>'}, "body@gravcomp", "a force that lifts the body against its weight"),
        ({"beside": '<frame scale="2"/>'}, "frame@scale", "another size of everything inside"),
        ({"beside": '<replicate count="2"><body/></replicate>'}, "replicate", "copies of bodies"),
        ({"beside": '<flexcomp name="f" type="grid"/>'}, "flexcomp", "deformable bodies"),
        ({"inside": '<plugin plugin="x"/>'}, "plugin", "forces that a plugin computes"),
        ({"tail": TENDON.format('stiffness="3"')}, "tendon/fixed", "forces along a tendon"),
        ({"tail": TENDON.format('range="0 1"')}, "tendon/fixed", "forces along a tendon"),
        (actuators('<motor tendon="f"/>'), "actuator/motor@tendon", "a force on a tendon"),
        (actuators('<muscle joint="j"/>'), "actuator/muscle", "a muscle"),
        (actuators('<motor joint="j" delay=".1" nsample="3"/>'), "actuator/motor@delay", "a delay"),
        (actuators('<general joint="j" dyntype="filter"/>'), "actuator/general@dyntype", "a state"),
        (actuators('<position joint="j" timeconst="1"/>'), "actuator/position@timeconst", "a state"),
        (
            actuators('<general joint="j" gaintype="affine" gainprm="1 2"/>'),
            "actuator/general@gaintype",
            "a gain that depends on the motion",
        ),
        (
            actuators('<general joint="j" biastype="affine" biasprm="0 3"/>'),
            "actuator/general@biasprm",
            "a servo that pushes away from its target",
        ),
        (
            actuators('<position joint="j" forcerange="-1 2"/>'),
            "actuator/position@forcerange",
            "a limit of the force that differs between the two directions",
        ),
        (
            {"joint": 'actuatorfrcrange="-1 1"'} | actuators('<motor joint="j"/><motor joint="j"/>'),
            "joint@actuatorfrcrange",
            "a limit of the sum of several actuators",
        ),
        (
            {"inside": '<joint name="k"/>'} | equalities('<joint joint1="j" joint2="k" polycoef="0 1 2"/>'),
            "equality/joint@polycoef",
            "a joint that follows another one by a polynomial",
        ),
        ({"joint": 'type="ball" stiffness="1"'}, "joint@stiffness", "a spring in a ball joint"),
        ({"joint": 'type="ball" frictionloss="1"'}, "joint@frictionloss", "friction in a ball joint"),
        ({"joint": 'type="free" armature="1"'}, "joint@armature", "inertia added to a free joint"),
        ({"joint": 'type="ball" range="0 90"'}, "joint@range", "a limit of a ball joint"),
        ({"joint": 'type="ball" damping="1 2"'}, "joint@damping", "damping of higher order in a ball joint"),
        ({"joint": 'type="ball"'} | actuators('<motor joint="j"/>'), "actuator/motor@joint", "a force on a ball joint"),
    ],
)  # fmt: skip
def test_what_would_change_the_motion_is_refused(tmp_path, parts, path, words):
    """Unless people say that they know."""
    with pytest.raises(mbd.ModelError) as caught:
        load(tmp_path, **parts)
    text = str(caught.value)
    assert "the motion would be another without it" in text
    assert f"{path} (" in text and words in text and f'ignore=["{path}"]' in text
    model, messages = load(tmp_path, ignore=[path], **parts)
    assert len(model.bodies) >= 1 and not any(path in message for message in messages)


def test_several_refusals_are_told_at_once(tmp_path):
    tail = '<actuator><muscle name="m1" joint="j"/><muscle joint="j"/></actuator>'
    tail += '<equality><tendon tendon1="f"/></equality>'
    with pytest.raises(mbd.ModelError, match=r"actuator/muscle \('m1', line 1\): a muscle; equality/tendon \(line 1\)"):
        load(tmp_path, tail=tail)
    model, messages = load(tmp_path, tail=tail, ignore=["actuator", "equality"])
    assert not model.forces and messages == []


def test_entries_to_ignore_are_checked(tmp_path):
    with pytest.raises(mbd.ModelError, match="ignore names 'tendons', which is not in the file; nothing is left out"):
        load(tmp_path, ignore=["tendons"])
    with pytest.raises(mbd.ModelError, match="ignore names 'sensors', which is not in the file; did you mean 'sensor'"):
        load(tmp_path, tail="<sensor><clock/></sensor>", ignore=["sensors"])
    with pytest.raises(mbd.ModelError, match=r"ignore = 'tendon'; expected a list of paths"):
        load(tmp_path, ignore="tendon")
    with pytest.raises(mbd.ModelError, match="ignore = 3; expected paths of elements"):
        load(tmp_path, ignore=[3])


def test_advice_where_mujoco_can_help(tmp_path):
    with pytest.raises(mbd.ModelError, match="MuJoCo can write what it makes of them: mujoco.mj_saveLastXML"):
        load(tmp_path, beside='<replicate count="2"><body/></replicate>')


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"joint": 'dampin="1"'}, '<joint name="j">: attribute \'dampin\' is not known in MJCF at this place; did you'),
        ({"inside": "<goem/>"}, "line 1: <goem> is not known in MJCF at this place; did you mean geom"),
        ({"tail": "<asse/>"}, "<asse> is not known in MJCF at this place; did you mean asset"),
        (equalities("<conect/>"), "<conect> is not known in MJCF at this place; did you"),
        (actuators("<motors/>"), "<motors> is not known in MJCF at this place; did you mean motor"),
        ({"tail": "<tendon><fix/></tendon>"}, "<fix> is not known in MJCF"),
        ({"tail": "<contact><pairs/></contact>"}, "<pairs> is not known in MJCF at this place; did you mean pair"),
        ({"head": "<compiler><x/></compiler>"}, "<x> is not known in MJCF"),
        ({"head": '<compiler angle="grad"/>'}, "<compiler>: angle = 'grad'; expected one of degree, radian"),
        ({"head": '<compiler eulerseq="xy"/>'}, "eulerseq = 'xy'; expected three of the letters"),
        ({"head": '<compiler coordinate="global"/>'}, "coordinate = 'global'; expected \"local\""),
        ({"head": '<default><joint axis="0 0 0"/></default>'}, r"axis = '0 0 0' \(of <joint>, line 1\); expected dir"),
        ({"head": '<default class="x"/>'}, "the outermost class is 'x'; expected main"),
        ({"head": "<default><default/></default>"}, "<default>: has no class"),
        ({"head": '<default><default class="a"/><default class="a"/></default>'}, "the class 'a' is there already"),
        ({"head": "<default><bodi/></default>"}, "<bodi> is not known in MJCF"),
        ({"joint": 'class="a"'}, "class = 'a' is not in the file; expected one of main"),
        ({"beside": '<body childclass="a"/>'}, "childclass = 'a' is not in the file"),
        ({"joint": 'type="screw"'}, "type = 'screw'; expected one of hinge, slide, ball, free"),
        ({"joint": 'axis="1 0"'}, "axis = '1 0'; expected 3 finite numbers"),
        ({"joint": 'axis="1 0 nan"'}, "axis = '1 0 nan'; expected 3 finite numbers"),
        ({"joint": 'damping="1e400"'}, "damping = '1e400'; expected 1 to 3 finite numbers"),
        ({"joint": 'damping="-1"'}, "damping = '-1'; expected a first number that is not negative"),
        ({"joint": 'armature="-1"'}, "armature = '-1'; expected a number that is not negative"),
        ({"joint": 'range="1 -1"'}, "range = '1 -1'; expected two numbers, the smaller one first"),
        ({"joint": 'limited="true"'}, 'limited is "true", but there is no range'),
        ({"joint": 'limited="true" range="1 1"'}, "range = '1 1'; expected two different numbers"),
        ({"joint": 'range="0 1" solreflimit="0 1"'}, "solreflimit = '0 1'; expected a time constant"),
        ({"head": '<compiler autolimits="false"/>', "joint": 'range="0 1"'}, "because autolimits is false"),
        ({"joint": 'type="free"', "inside": "<joint/>"}, "its body has more than 6 degrees of freedom"),
        ({"joint": 'type="ball"', "inside": "<joint/>"}, "follows a ball joint of the same body"),
        ({"inside": '<joint type="ball"/>'}, "follows a hinge of the same body"),
        ({"inside": '<body><freejoint/><geom size="1"/></body>'}, "is free inside of another body"),
        ({"inside": '<body mocap="true"/>'}, "a mocap body inside of another body"),
        ({"beside": '<body mocap="true"><joint/></body>'}, "stands in a mocap body"),
        ({"beside": "<joint/>"}, "<joint>: stands in the world, which does not move"),
        ({"beside": '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'}, "stands in the world"),
        ({"inside": '<joint name="j" axis="1 0 0"/>'}, "two joints are named 'j'"),
        ({"beside": '<body name="b"/>'}, "two bodies are named 'b'"),
        ({"beside": '<body name="world"/>'}, "two bodies are named 'world'"),
        ({"inside": '<geom name="g" size="1"/>'}, "two geoms are named 'g'"),
        ({"inside": '<geom size="0"/>'}, "size = '0'; expected 1 positive number for a sphere"),
        ({"inside": "<geom/>"}, "<geom>: has no size; expected 1 positive numbers"),
        ({"inside": '<geom type="box" size="1 1"/>'}, "size = '1 1'; expected 3 positive numbers for a box"),
        ({"inside": '<geom size="1" mass="-1"/>'}, "mass = '-1'; expected a number that is not negative"),
        ({"inside": '<geom size="1" fromto="0 0 0 1 1 1"/>'}, "expected a type of capsule, cylinder, box, ellipsoid"),
        ({"inside": '<geom type="capsule" size="1" fromto="1 1 1 1 1 1"/>'}, "expected two points that are apart"),
        ({"inside": '<geom type="capsule" size="1" pos="0 0 0" fromto="0 0 0 1 1 1"/>'}, "expected no pos with it"),
        ({"inside": '<geom size="1" quat="1 0 0 0" euler="0 0 0"/>'}, "has euler and quat; expected one orientation"),
        ({"inside": '<geom size="1" quat="0 0 0 0"/>'}, "quat = '0 0 0 0'; expected directions, which cannot be zero"),
        ({"inside": '<geom size="1" xyaxes="1 0 0 2 0 0"/>'}, "xyaxes = '1 0 0 2 0 0'; expected directions"),
        ({"inside": '<geom type="mesh"/>'}, 'has no mesh; expected mesh="..."'),
        ({"inside": '<geom type="mesh" mesh="m"/>'}, "mesh = 'm' is not in the file; expected a mesh of <asset>"),
        ({"inside": '<geom size="1" group="1.5"/>'}, "group = '1.5'; expected a whole number"),
        ({"inside": '<geom type="ellipsoid" size="1 1 1" shellinertia="true"/>'}, "is the shell of an ellipsoid"),
        ({"inside": '<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'}, "moments of inertia are 1, 1 and 3"),
        ({"inside": '<inertial pos="0 0 0" mass="0" diaginertia="1 1 1"/>'}, "has an inertia, but no mass"),
        ({"inside": '<inertial mass="1" diaginertia="1 1 1"/>'}, '<inertial>: has no pos; expected pos="..."'),
        ({"inside": '<inertial pos="0 0 0" diaginertia="1 1 1"/>'}, "<inertial>: has no mass"),
        (
            {"inside": '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'},
            "has diaginertia and fullinertia",
        ),
        ({"inside": '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>' * 2}, "stands twice in one body"),
        ({"beside": '<body name="empty"><joint/></body>'}, '<body name="empty">: moves, but nothing in it'),
        (actuators('<motor joint="x"/>'), "joint = 'x'; expected the name of a joint of the file"),
        (actuators("<motor/>"), 'expected one of joint="...", jointinparent, tendon, site and body'),
        (actuators('<motor name="m" joint="j"/>' * 2), "two actuators are named 'm'; expected unique names"),
        (actuators('<motor joint="j" gear="0"/>'), "gear = '0'; expected a first number that is not"),
        (equalities('<connect body1="x" anchor="0 0 0"/>'), "body1 = 'x'; expected the name of a body"),
        (equalities('<connect body1="b"/>'), "<connect>: has no anchor"),
        (equalities('<connect body1="b" body2="b" anchor="0 0 0"/>'), "both ends are on the same body"),
        (equalities('<connect site1="x" site2="y"/>'), "site1 = 'x'; expected the name of a site"),
        (equalities("<weld/>"), "expected either site1 and site2, or body1"),
        (equalities('<joint joint1="j" joint2="j"/>'), "joint1 and joint2 are the same"),
        (equalities('<joint joint1="x"/>'), "joint1 = 'x'; expected the name of a hinge or a slide"),
        ({"tail": '<include file="none.xml"/>'}, "there is no file 'none.xml' beside it"),
        ({"tail": '<include file="model.xml"/>'}, "'model.xml' is included twice"),
        ({"tail": "<include/>"}, 'expected <include file="..."/> and nothing else'),
        ({"head": '<asset><mesh/></asset>'}, "<mesh>: has no name and no file"),
        ({"head": '<asset><mesh name="m" vertex="0 0 0 1"/></asset>'}, "vertex = '0 0 0 1'; expected 12"),
        ({"head": '<asset><mesh name="m" file="m.stl" scale="1 0 1"/></asset>'}, "scale = '1 0 1'; expected"),
    ],
)  # fmt: skip
def test_wrong_files(tmp_path, parts, words):
    """Every message has the file, the line and the element."""
    with pytest.raises(mbd.ModelError, match=words) as caught:
        load(tmp_path, **parts)
    assert re.match(r".*model\.xml, line \d+: ", str(caught.value)), caught.value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot/>", r"its root is <robot>; expected <mujoco> \(a URDF file, which mbd.load_urdf reads\)"),
        ("<mujoco><worldbody/></mujoco>", "contains no <body>"),
        ('<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>', "nothing in it moves"),
        ("<mujoco>", "no valid XML"),
        ("", "no valid XML"),
        ("<!DOCTYPE mujoco [<!ENTITY a 'b'>]><mujoco>&a;</mujoco>", "contains a DOCTYPE or entities"),
    ],
)
def test_files_that_are_no_mechanism(tmp_path, text, words):
    path = tmp_path / "model.xml"
    path.write_text(text)
    with pytest.raises(mbd.ModelError, match=words) as caught:
        mbd.load_mjcf(path)
    assert str(path) in str(caught.value)


def test_coordinates_are_checked(tmp_path):
    (tmp_path / "model.xml").write_text(FILE.format(head="", joint="", inside="", beside="", tail=""))
    with pytest.raises(mbd.ModelError, match="coordinates = 'minimal'; expected"):
        mbd.load_mjcf(tmp_path / "model.xml", coordinates="minimal")
    with pytest.raises(mbd.ModelError, match="there is no such file"):
        mbd.load_mjcf(tmp_path / "none.xml")
