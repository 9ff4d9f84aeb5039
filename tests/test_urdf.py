"""URDF import: geometry, masses, motion, and what is ignored or refused."""

from __future__ import annotations

import builtins
import math
import warnings

import numpy as np
import pytest

import mbd

yourdfpy = pytest.importorskip("yourdfpy")

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
    assert upper.center == pytest.approx((0, 0, -0.5))
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
    ],
)
def test_wrong_files(tmp_path, old, new, message):
    with pytest.raises(mbd.ModelError, match=message):
        load(tmp_path, ARM.replace(old, new, 1))


def test_wrong_positions_and_files(tmp_path):
    with pytest.raises(mbd.ModelError, match="positions names the joint 'wrist'"):
        load(tmp_path, positions={"wrist": 1.0})
    with pytest.raises(mbd.ModelError, match="gives a value for the planar joint"):
        load(tmp_path, ARM.replace('type="continuous"', 'type="planar"'), positions={"elbow": 1.0})
    with pytest.raises(mbd.ModelError, match="no such file"):
        mbd.load_urdf(tmp_path / "none.urdf")


def test_without_yourdfpy(tmp_path, monkeypatch):
    real = builtins.__import__

    def missing(name, *arguments, **options):
        if name == "yourdfpy":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(mbd.ModelError, match=r'pip install "mbd\[urdf\]"'):
        load(tmp_path)
