"""URDF import: geometry, masses, motion, and what is ignored or refused."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest

import mbd

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="0.2" iyy="0.2" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 -0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry>
      <material name="blue"/></visual>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 -0.4" rpy="0 0 1.5707963267948966"/><mass value="1"/>
      <inertia ixx="0.05" iyy="0.06" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
    <visual><geometry><mesh filename="package://arm/hand.stl" scale="0.001 0.001 0.001"/></geometry></visual>
  </link>
  <link name="tool"><inertial><mass value="0.5"/>
      <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="1"/>
    <dynamics damping="0.3" friction="0.1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 -1"/><axis xyz="0 1 0"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0 0 -0.8"/></joint>
</robot>
"""


def load(tmp_path, text=ARM, **options):
    file = tmp_path / "arm.urdf"
    file.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = mbd.load_urdf(file, **options)
    return model, [str(w.message) for w in caught if issubclass(w.category, mbd.ModelWarning)]


def test_bodies_and_joints(tmp_path):
    model, messages = load(tmp_path)
    assert model.name == "arm" and model.gravity.tolist() == [0, 0, -9.81]
    assert [b.name for b in model.bodies] == ["upper", "lower"]
    assert [(j.name, type(j).__name__) for j in model.joints] == [("shoulder", "Revolute"), ("elbow", "Revolute")]
    assert model["lower"].position == pytest.approx((0, 0, 0))
    assert model["upper"].com == pytest.approx((0, 0, -0.5))
    assert model["shoulder"].point_a == pytest.approx((0, 0, 1))
    friction = model["friction of shoulder"]
    assert (friction.viscous, friction.coulomb) == (0.3, 0.1)
    assert messages == []
    assert mbd.diagnose(model).dof == 2


def test_fixed_links_are_one_body(tmp_path):
    lower = load(tmp_path)[0]["lower"]
    assert lower.mass == pytest.approx(1.5)
    assert lower.com == pytest.approx((0, 0, -(0.4 + 0.5 * 0.8) / 1.5))
    c1, c2 = 0.8 / 1.5 - 0.4, 0.8 - 0.8 / 1.5
    steiner = 1 * c1**2 + 0.5 * c2**2
    # the inertia of the lower link is turned by 90 degrees about z
    assert np.diag(lower.inertia) == pytest.approx((0.06 + 0.001 + steiner, 0.05 + 0.001 + steiner, 0.021))


def test_shapes(tmp_path):
    model, _ = load(tmp_path)
    assert isinstance(model.ground.shape, mbd.shapes.Box)
    upper = model["upper"].shape
    assert isinstance(upper, mbd.shapes.Cylinder) and upper.height == 1.0 and upper.colour == "#0000ff"
    assert upper.centre == pytest.approx((0, 0, -0.5))
    sphere, mesh = model["lower"].shape.parts
    assert sphere.radius == 0.1 and mesh.scale == 0.001 and mesh.file.name == "hand.stl"


def test_mesh_files_are_found(tmp_path):
    (tmp_path / "hand.stl").write_text("solid")
    assert load(tmp_path)[0]["lower"].shape.parts[1].file == tmp_path / "hand.stl"


def test_positions(tmp_path):
    model, _ = load(tmp_path, positions={"shoulder": math.pi / 2, "elbow": -math.pi / 2})
    assert model["upper"].rotation @ (0, 0, -1) == pytest.approx((-1, 0, 0))
    assert model["lower"].position == pytest.approx((-1, 0, 1))
    assert model["lower"].rotation == pytest.approx(np.eye(3), abs=1e-12)
    assert not mbd.consistent_start(mbd.assemble(model)).report.changed


def test_positions_beyond_half_a_turn_are_shown(tmp_path):
    """Whole turns count."""
    model, messages = load(tmp_path, positions={"elbow": 4.0 + 4.0 * math.pi})
    assert messages == []
    solution = mbd.simulate(model, t_end=0.01, step=1e-3, integrator=mbd.integrators.RK4())
    assert solution["elbow"].angle[0] == pytest.approx(4.0 + 4.0 * math.pi, abs=1e-12)


def test_energy_of_a_motion(tmp_path):
    text = ARM.replace('<dynamics damping="0.3" friction="0.1"/>', "")
    model, _ = load(tmp_path, text, positions={"shoulder": 1.0})
    solution = mbd.simulate(model, t_end=0.5, step=1e-3, integrator=mbd.integrators.RK4())
    assert np.ptp(solution.energy.total) < 1e-6
    assert np.ptp(solution.energy.kinetic) > 1.0


def test_floating_base(tmp_path):
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    base = f'<link name="base"><inertial><mass value="3"/>{inertia}</inertial>'
    model, _ = load(tmp_path, ARM.replace('<link name="base">', base), fixed_base=False)
    assert model.bodies[0].name == "base"
    assert mbd.diagnose(model).dof == 8


def test_other_joints(tmp_path):
    slider, messages = load(tmp_path, ARM.replace('type="continuous"', 'type="prismatic"'), positions={"elbow": 0.2})
    assert isinstance(slider["elbow"], mbd.joints.Prismatic)
    assert slider["lower"].position == pytest.approx((0, 0.2, 0))
    plane, _ = load(tmp_path, ARM.replace('type="continuous"', 'type="planar"'))
    assert isinstance(plane["elbow"], mbd.joints.Planar)
    loose, _ = load(tmp_path, ARM.replace('type="continuous"', 'type="floating"'))
    assert len(loose.joints) == 1 and mbd.diagnose(loose).dof == 7


def test_names_of_links_and_joints_may_be_the_same(tmp_path):
    model, _ = load(tmp_path, ARM.replace('name="elbow"', 'name="lower"'))
    assert [j.name for j in model.joints] == ["shoulder", "lower joint"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<mass value="2"/>', '<mass value="0"/>', r"inertial \('upper'\): inertia of links without mass"),
        ('<inertia ixx="0.2"', '<inertia ixx="-0.2"', "body 'upper': inertia = .*positive definite"),
        ('<child link="lower"/>', '<child link="none"/>', "joint 'elbow' refers to the unknown link 'none'"),
        ('<child link="tool"/>', '<child link="upper"/>', "link 'upper' has two parents"),
        ('type="continuous"', 'type="screw"', "joint 'elbow' is of type 'screw'"),
        ('<link name="tool">', '<link name="extra"/><link name="tool">', "2 links have no parent"),
        (ARM, "no robot", "cannot be read as URDF"),
        ("</robot>", "", "no valid XML"),
        ("<robot", "<!DOCTYPE x><robot", "DOCTYPE"),
        (ARM, "<model/>", "its root is <model>; expected <robot>"),
        (ARM, "<robot name='empty'/>", "contains no links"),
        ('<link name="tool">', '<link name="lower">', "two links are named 'lower'"),
        ('<joint name="elbow"', '<joint name="shoulder"', "two joints are named 'shoulder'"),
        ('<parent link="base"/>', '<parent link="tool"/>', "2 links have no parent|'upper', .* form a loop"),
        ('<parent link="base"/>', "", "joint 'shoulder': has no <parent>"),
        (
            '<mass value="2"/>',
            '<mass value="2 kg"/>',
            "link 'upper': value of <mass> = '2 kg'; expected a finite number",
        ),
        ('<mass value="2"/>', '<mass value="nan"/>', "link 'upper': value of <mass> = 'nan'"),
        ('<mass value="2"/>', '<mass value="-2"/>', "link 'upper': mass = -2; expected"),
        ('<mass value="2"/>', "", "link 'upper': <inertial> has no <mass>"),
        ('ixx="0.2"', "", "link 'upper': ixx of <inertia> is missing"),
        ('xyz="0 0 -0.5"/><mass', 'xyz="0 0"/><mass', "link 'upper': xyz of <origin> = '0 0'; expected 3 finite"),
        (
            'xyz="0 0 -0.5"/><mass',
            'xzy="0 0 1"/><mass',
            "link 'upper': attribute 'xzy' of <origin> is not known; did you mean xyz",
        ),
        (
            '<origin xyz="0 0 1"/>',
            '<orgin xyz="0 0 1"/>',
            "joint 'shoulder': <orgin> is not known; did you mean origin",
        ),
        ('<origin xyz="0 0 1"/>', '<origin xyz="0 0 1"/><origin/>', "joint 'shoulder': contains <origin> twice"),
        (
            '<axis xyz="0 1 0"/><limit',
            '<axis xyz="0 0 0"/><limit',
            "joint 'shoulder': xyz of <axis> = .*expected a direction",
        ),
        ('lower="-1" upper="1"', 'lower="1" upper="-1"', "joint 'shoulder': limits are 1 to -1"),
        ('damping="0.3"', 'damping="-0.3"', "joint 'shoulder': damping = -0.3"),
        ('<sphere radius="0.1"/>', '<sphere radius="-0.1"/>', "link 'lower': radius of <sphere> = '-0.1'"),
        ('<sphere radius="0.1"/>', "", "link 'lower': a <visual> has 0 shapes"),
        (
            'rgba="0 0 1 1"',
            'rgba="0 0 255 1"',
            "material 'blue': rgba of <color> = '0 0 255 1'; expected numbers from 0",
        ),
        (
            '<axis xyz="0 1 0"/></joint>',
            '<axis xyz="0 1 0"/><mimic joint="none"/></joint>',
            "mimics 'none', which is not in",
        ),
        (
            '<axis xyz="0 1 0"/></joint>',
            '<axis xyz="0 1 0"/><mimic joint="flange"/></joint>',
            "mimics 'flange', which is fixed",
        ),
        ('<axis xyz="0 1 0"/></joint>', '<axis xyz="0 1 0"/><mimic joint="elbow"/></joint>', "'elbow' mimics itself"),
    ],
)
def test_wrong_files(tmp_path, old, new, message):
    with pytest.raises(mbd.ModelError, match=message) as caught:
        load(tmp_path, ARM.replace(old, new, 1))
    told = ("2 links have no parent", "form a loop", "contains no links", "cannot be taken over")
    assert re.match(r".*arm\.urdf, line \d+: ", str(caught.value)) or any(words in str(caught.value) for words in told)


def test_wrong_positions_and_files(tmp_path):
    with pytest.raises(mbd.ModelError, match="positions names the joint 'wrist'"):
        load(tmp_path, positions={"wrist": 1.0})
    with pytest.raises(mbd.ModelError, match="gives a value for the fixed joint 'flange'"):
        load(tmp_path, positions={"flange": 0.0})
    with pytest.raises(mbd.ModelError, match="position = nan"):
        load(tmp_path, positions={"elbow": math.nan})
    with pytest.raises(mbd.ModelError, match="gives a value for the planar joint"):
        load(tmp_path, ARM.replace('type="continuous"', 'type="planar"'), positions={"elbow": 1.0})
    with pytest.raises(mbd.ModelError, match="no such file"):
        mbd.load_urdf(tmp_path / "none.urdf")


def test_links_in_a_loop(tmp_path):
    """Beside the tree: every link has a parent, but the root does not reach them."""
    loop = '<link name="a"/><link name="b"/>' + "".join(
        f'<joint name="{x}{y}" type="fixed"><parent link="{x}"/><child link="{y}"/></joint>' for x, y in ("ab", "ba")
    )
    with pytest.raises(mbd.ModelError, match="the links 'a', 'b' form a loop"):
        load(tmp_path, ARM.replace("</robot>", loop + "</robot>"))


@pytest.mark.parametrize(
    ("rpy", "axis"),
    [
        ("1.5707963267948966 0 0", (0, -1, 0)),
        ("0 1.5707963267948966 0", (1, 0, 0)),
        ("0 1.5707963267948966 1.5707963267948966", (0, 1, 0)),
        ("0.3 -0.4 0.5", None),
    ],
)
def test_a_cylinder_with_a_turned_origin(tmp_path, rpy, axis):
    """Its axis is z of its origin, R = Rz(yaw) Ry(pitch) Rx(roll); shape and inertia are turned alike."""
    text = ARM.replace('<visual><origin xyz="0 0 -0.5"/>', f'<visual><origin xyz="0.1 0.2 -0.5" rpy="{rpy}"/>')
    text = text.replace('<inertial><origin xyz="0 0 -0.5"/>', f'<inertial><origin xyz="0.1 0.2 -0.5" rpy="{rpy}"/>')
    upper = load(tmp_path, text)[0]["upper"]
    turn = mbd.rotation(angles=[float(x) for x in rpy.split()][::-1], sequence="zyx")
    expected = turn @ (0, 0, 1) if axis is None else axis
    assert upper.shape.axis == pytest.approx(expected, abs=1e-12)
    assert upper.shape.centre == pytest.approx((0.1, 0.2, -0.5)) == upper.com.tolist()
    assert upper.inertia @ expected == pytest.approx(0.02 * np.array(expected), abs=1e-12)  # the thin axis of the rod
    solid = mbd.mass_properties(upper.shape, mass=2.0)
    assert solid.inertia @ expected == pytest.approx(np.linalg.eigvalsh(solid.inertia)[0] * np.array(expected))


def test_boxes_are_turned_alike(tmp_path):
    text = ARM.replace('<cylinder radius="0.05" length="1"/>', '<box size="1 2 3"/>')
    box = load(tmp_path, text.replace('<visual><origin xyz="0 0 -0.5"/>', '<visual><origin rpy="0.3 -0.4 0.5"/>'))[0][
        "upper"
    ].shape
    assert box.rotation == pytest.approx(mbd.rotation(angles=(0.5, -0.4, 0.3), sequence="zyx"))
    assert box.size.tolist() == [1, 2, 3]


def test_joint_zeros_are_those_of_the_file(tmp_path):
    start = {"shoulder": 0.7, "elbow": -0.4}
    model, messages = load(tmp_path, positions=start)
    solution = mbd.simulate(model, t_end=0.01, step=1e-3, integrator=mbd.integrators.RK4())
    for name, value in start.items():
        assert solution[name].angle[0] == pytest.approx(value, abs=1e-12)
    assert not any("outside" in m for m in messages)
    _, messages = load(tmp_path, positions={"shoulder": 1.2})
    assert any("'shoulder' at 1.2, outside -1 to 1): no stops, because the start is outside" in m for m in messages)
    slider, _ = load(
        tmp_path, ARM.replace('type="continuous"', 'type="prismatic"'), positions={"elbow": 0.2, "shoulder": 1.0}
    )
    moved = mbd.simulate(slider, t_end=0.01, step=1e-3, integrator=mbd.integrators.RK4())
    assert moved["elbow"].displacement[0] == pytest.approx(0.2, abs=1e-12)


def test_damping_of_a_slider_acts(tmp_path):
    """Along a horizontal rail, m x'' = -d x': the start decays."""
    text = ARM.replace('type="continuous"', 'type="prismatic"').replace(
        '<axis xyz="0 1 0"/></joint>', '<axis xyz="0 1 0"/><dynamics damping="3"/></joint>'
    )
    model, _ = load(
        tmp_path,
        text.replace('type="revolute"', 'type="fixed"').replace('<dynamics damping="0.3" friction="0.1"/>', ""),
    )
    model["lower"].velocity = (0, 1.0, 0)
    solution = mbd.simulate(model, t_end=0.5, step=1e-3, integrator=mbd.integrators.RK4())
    assert solution["lower"].velocity[-1, 1] == pytest.approx(math.exp(-3.0 / 1.5 * 0.5), rel=1e-6)


def test_mimic_is_a_coupling(tmp_path):
    text = ARM.replace(
        '<axis xyz="0 1 0"/></joint>',
        '<axis xyz="0 1 0"/><mimic joint="shoulder" multiplier="-2" offset="0.3"/></joint>',
    )
    model, _ = load(tmp_path, text, positions={"shoulder": 0.2})
    assert mbd.diagnose(model).dof == 1
    solution = mbd.simulate(model, t_end=0.3, step=1e-3, integrator=mbd.integrators.RK4())
    np.testing.assert_allclose(solution["elbow"].angle, -2.0 * solution["shoulder"].angle + 0.3, atol=1e-9)
    assert solution["elbow"].angle[0] == pytest.approx(-0.1, abs=1e-12) and np.ptp(solution["elbow"].angle) > 0.1
    assert load(tmp_path, text, positions={"shoulder": 0.2, "elbow": -0.1})[0]
    with pytest.raises(mbd.ModelError, match="gives 0.5 for the joint 'elbow', which mimics 'shoulder' and is at -0.1"):
        load(tmp_path, text, positions={"shoulder": 0.2, "elbow": 0.5})


def test_what_is_left_out_is_named(tmp_path):
    extras = '<transmission name="drive"/><gazebo reference="upper"/><link name="x"/></robot>'
    text = ARM.replace("</robot>", extras.replace('<link name="x"/>', ""))
    text = text.replace("</link>", "<collision/></link>", 1).replace(
        '<material name="blue"/>', '<material name="red"/>'
    )
    text = text.replace('friction="0.1"/>', 'friction="0.1" D="3"/>')
    _, messages = load(tmp_path, text)
    assert len(messages) == 1
    for words in (
        "transmission ('drive'): motors and their gears",
        "gazebo (robot), dynamics@D (joint 'shoulder'): extensions of other programs",
        "collision ('base'): contact: bodies go through each other",
        "material ('red' of link 'upper'): materials that are not in the file",
    ):
        assert words in messages[0], words
    assert load(tmp_path, text, ignore=["transmission", "gazebo", "dynamics", "collision", "material"])[1] == []
    with pytest.raises(mbd.ModelError, match="ignore names 'gazeb', which is not in the file; did you mean 'gazebo'"):
        load(tmp_path, text, ignore=["gazeb"])


def test_damping_of_planar_joints_is_refused(tmp_path):
    text = ARM.replace('type="revolute"', 'type="planar"')
    with pytest.raises(mbd.ModelError, match=r"joint@damping \('shoulder'\): damping in planar joints"):
        load(tmp_path, text)
    assert load(tmp_path, text, ignore=["joint@damping", "joint@friction"])[0]["shoulder"]


def test_limits(tmp_path):
    """Stops with stiffness I / T^2 and damping 2 I / T; effort and velocity are there for drives."""
    model, _ = load(tmp_path, limits=0.05)
    shoulder, stop = model["shoulder"], model["limit of shoulder"]
    assert (shoulder.range, shoulder.effort, shoulder.speed) == ((-1, 1), 10, 1)
    assert (stop.lower, stop.upper) == (-1, 1)
    inertia = 0.2 + 2 * 0.5**2 + 0.05 + 1 * 1.4**2 + 0.001 + 0.5 * 1.8**2  # the lower link is turned about z
    assert stop.stiffness == pytest.approx(inertia / 0.05**2) and stop.damping == pytest.approx(2 * inertia / 0.05)
    model.add(mbd.forces.PDControl(shoulder, 0.5, 1e6, 10.0, limit=shoulder.effort, name="servo"))
    assert model["servo"].limit == 10 and model["elbow"].range is None
    without, _ = load(tmp_path, limits=None)
    assert "limit of shoulder" not in without and without["shoulder"].range == (-1, 1)
    copied = model.copy()["shoulder"]
    assert (copied.range, copied.effort, copied.speed) == ((-1, 1), 10, 1)
    without.save(tmp_path / "arm.json")
    again = mbd.Model.load(tmp_path / "arm.json")["shoulder"]
    assert (again.range, again.effort, again.speed) == ((-1, 1), 10, 1)


def test_limits_without_width(tmp_path):
    _, messages = load(tmp_path, ARM.replace('lower="-1" upper="1"', ""))
    assert any("joint@limit ('shoulder' at 0): no stops, because the range has no width" in m for m in messages)


def test_a_stop_holds(tmp_path):
    """An arm that falls comes to rest at its limit, a little beyond."""
    text = ARM.replace('damping="0.3" friction="0.1"', 'damping="20"').replace('type="continuous"', 'type="fixed"')
    model, _ = load(tmp_path, text.replace('lower="-1"', 'lower="0.5"'), positions={"shoulder": 1.0})
    angle = mbd.simulate(model, t_end=4.0, step=1e-3)["shoulder"].angle
    assert 0.48 < angle.min() < 0.5 and angle[-1] == pytest.approx(0.5, abs=0.02)


def test_links_that_are_kept(tmp_path):
    start = {"shoulder": 0.3, "elbow": -0.8}
    kept, _ = load(tmp_path, positions=start, keep=["tool"])
    assert [b.name for b in kept.bodies] == ["upper", "lower", "tool"] and kept["tool"].mass == 0.5
    assert isinstance(kept["flange"], mbd.joints.Fixed)
    merged, _ = load(tmp_path, positions=start)
    method = mbd.integrators.RK4()
    one, two = (mbd.simulate(model, 0.1, 1e-3, integrator=method) for model in (kept, merged))
    assert np.abs(one["tool"].position - two["lower"].point((0, 0, -0.8))).max() < 1e-11
    with pytest.raises(mbd.ModelError, match="keep names the link 'hand', which is not in the file"):
        load(tmp_path, keep=["hand"])


def test_links_without_mass(tmp_path):
    """Between joints they are allowed; at the end of a chain they are not."""
    empty = re.sub(r'(<link name="upper">\s*)<inertial>.*?</inertial>', r"\1", ARM, flags=re.DOTALL)
    model, _ = load(tmp_path, empty, positions={"elbow": 0.5})
    assert model["upper"].mass == 0.0
    solution = mbd.simulate(model, t_end=0.2, step=1e-3, integrator=mbd.integrators.RK4())
    assert np.ptp(solution["shoulder"].angle) > 0.01
    light = re.sub(r"<inertial>.*?</inertial>", "", ARM, flags=re.DOTALL)
    with pytest.raises(mbd.ModelError, match="link 'lower' moves, but nothing in it or behind it has a mass"):
        load(tmp_path, light)
    with pytest.raises(mbd.ModelError, match="link 'base' floats, but has no mass"):
        load(tmp_path, fixed_base=False)


def test_a_mimic_of_a_fixed_joint_is_named(tmp_path):
    text = ARM.replace('<child link="tool"/>', '<child link="tool"/><mimic joint="elbow"/>')
    assert any("mimic ('flange'): mimic of fixed joints" in m for m in load(tmp_path, text)[1])


def test_coordinates_and_limits_are_checked(tmp_path):
    with pytest.raises(mbd.ModelError, match="coordinates = 'x'; expected"):
        load(tmp_path, coordinates="x")
    with pytest.raises(mbd.ModelError, match="limits = -1; expected a positive number"):
        load(tmp_path, limits=-1)
    with pytest.raises(mbd.ModelError, match=r"\(an MJCF file, which mbd.load_mjcf reads\)"):
        load(tmp_path, "<mujoco/>")


def test_a_link_and_a_joint_of_one_name(tmp_path):
    file = tmp_path / "same.urdf"
    file.write_text(ARM.replace('joint name="shoulder"', 'joint name="upper"'), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mbd.load_urdf(file)
    turned = model.with_joint_values({"upper": 0.3})
    assert turned["upper joint"].at_start("angle")[0] == pytest.approx(0.3, abs=1e-15)
    assert model.with_joint_values({"upper joint": 0.3})["upper"].node.rotation == pytest.approx(
        turned["upper"].node.rotation
    )
    with pytest.raises(mbd.ModelError, match="body 'lower' is no joint"):
        model.with_joint_values({"lower": 0.3})
