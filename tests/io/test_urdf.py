"""URDF import: geometry, masses, motion, and what is ignored or refused."""

from __future__ import annotations

import math
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
    assert model["damping of shoulder"].damping == 0.3
    assert len(messages) == 2
    assert any("limits of joints ignored ('shoulder')" in m for m in messages)
    assert any("friction of joints ignored ('shoulder')" in m for m in messages)
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


def test_positions_beyond_half_a_turn_are_told(tmp_path):
    model, messages = load(tmp_path, positions={"elbow": 4.0})
    told = f"joint 'elbow' starts at 4 rad, which its angle shows as {4.0 - 2.0 * math.pi:.6g} rad"
    assert sum(told in m for m in messages) == 1
    assert not any("starts at" in m for m in load(tmp_path, positions={"elbow": -math.pi})[1])


def test_energy_of_a_motion(tmp_path):
    model, _ = load(tmp_path, ARM.replace('damping="0.3"', 'damping="0"'), positions={"shoulder": 1.0})
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
    assert [j.name for j in model.joints] == ["shoulder", "revolute 1"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<mass value="2"/>', '<mass value="0"/>', "link 'upper' moves but has no mass"),
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
            "link 'upper': attribute 'xzy' of <origin> is not known; expected xyz, rpy",
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
    with pytest.raises(mbd.ModelError, match=message):
        load(tmp_path, ARM.replace(old, new, 1))


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
    assert any("joint 'shoulder' starts at 1.2, outside its limits -1 to 1" in m for m in messages)
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
    _, messages = load(tmp_path, text)
    for words in ("transmissions ignored ('drive')", "<gazebo> ignored", "collision geometry ignored ('base')",
                  "materials that are not in the file ignored ('red of link 'upper'')"):  # fmt: skip
        assert any(words in m for m in messages), words
