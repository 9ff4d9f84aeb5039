"""What the reader finds in MJCF files, against what MuJoCo's compiler finds in them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tests.io.mjcf import mechanisms
from tests.io.mjcf.comparison import compare_actuators, compare_bodies, compare_joints, read

SINGLE = 1e-6  # MuJoCo stores vertices of meshes in single precision


def both(tmp_path, text):
    path = tmp_path / "model.xml"
    path.write_text(text)
    return read(path), mujoco.MjModel.from_xml_path(str(path))


def test_frames_and_orientations(tmp_path, tolerance):
    ours, theirs = both(tmp_path, mechanisms.FRAMES)
    assert max(*compare_bodies(ours, theirs), compare_joints(ours, theirs)) < tolerance.round_off
    site = ours.tree.sites["place"]
    assert np.abs(site.pose[:3, 3] - theirs.site_pos[0]).max() < tolerance.round_off
    assert ours.tree.bodies[site.body].name == "framed"


@pytest.mark.parametrize("sequence", ["xyz", "XYZ", "xYz", "zxz", "ZYx"])
def test_sequences_of_angles(tmp_path, tolerance, sequence):
    text = mechanisms.FRAMES.replace("zYx", sequence)
    assert compare_bodies(*both(tmp_path, text))[0] < tolerance.round_off


@pytest.mark.parametrize("total", ["", 'settotalmass="7"'])
def test_masses(tmp_path, tolerance, total, capfd):
    ours, theirs = both(tmp_path, mechanisms.MASSES.replace("{settotalmass}", total))
    poses, masses = compare_bodies(ours, theirs)
    assert poses < tolerance.round_off and masses < SINGLE
    without = mechanisms.MASSES.replace("{settotalmass}", total).split("<asset>")[0] + "".join(
        part for part in mechanisms.MASSES.split("</asset>")[1].replace("meshes", "none").splitlines(True)
        if "mesh" not in part
    )  # fmt: skip
    if not total:
        assert compare_bodies(*both(tmp_path, without))[1] < tolerance.round_off
    capfd.readouterr()  # MuJoCo warns about settotalmass


def test_default_classes(tmp_path, tolerance):
    ours, theirs = both(tmp_path, mechanisms.CLASSES)
    assert max(*compare_bodies(ours, theirs), compare_joints(ours, theirs)) < tolerance.round_off
    assert compare_actuators(ours, theirs) < tolerance.round_off
    assert [a.gain for a in ours.actuators] == [20, 5, 3, 1, 9, 20]


@pytest.mark.parametrize(
    ("default", "element"),
    [
        ('<position kp="50" kv="3" ctrlrange="-1 1"/>', "<general {}/>"),
        ('<motor gear="3"/>', '<position {} kp="2"/>'),
        ('<position kp="50" kv="3"/>', "<velocity {}/>"),
        ('<velocity kv="3"/>', "<position {}/>"),
        ('<general gainprm="7" biastype="affine" biasprm="1 -2 -3"/>', "<position {}/>"),
        ('<general gainprm="7" biastype="affine" biasprm="1 -2 -3"/>', "<motor {}/>"),
        ('<position kp="4"/><motor gear="2"/>', "<position {}/>"),
        ('<motor gear="2"/><position kp="4"/>', "<motor {}/>"),
        ('<position kp="4"/><general gear="2" gainprm="3"/>', "<general {}/>"),
        ('<position kp="4"/><default class="c"><velocity kv="2"/></default>', '<position {} class="c"/>'),
        ("", '<position {} kp="2" inheritrange="0.8"/>'),
        ('<general forcerange="-2 3" gainprm="2"/><default class="c"/>', '<general {} class="c" biasprm="1"/>'),
    ],
)
def test_actuators_inherit_as_in_mujoco(tmp_path, tolerance, default, element):
    body = '<worldbody><body><joint name="j" range="-10 50"/><geom size=".1"/></body></worldbody>'
    actuator = element.format('joint="j"')
    text = f"<mujoco><default>{default}</default>{body}<actuator>{actuator}</actuator></mujoco>"
    assert compare_actuators(*both(tmp_path, text)) < tolerance.round_off


def test_joints(tmp_path, tolerance):
    text = """<mujoco><compiler angle="{}"/><worldbody><body><joint name="h" ref="0.3" springref=".2" range="-1 1.5"
      margin=".01" frictionloss=".1"/><joint name="s" type="slide" ref="0.3" springref=".2" range="-1 1.5" axis="3 0 4"
      stiffness="1 2 3" damping="3 2 1"/><geom size=".1"/></body><body><joint name="b" type="ball" range="0 1"/>
      <geom size=".1"/></body><body><joint name="r" range="0 0"/><joint name="f" range="-1 1" limited="false"/>
      <joint name="t" range="-2 1" limited="true" springdamper="0.1 0.5"/><geom size=".1"/></body>
      </worldbody></mujoco>"""
    for unit in ("degree", "radian"):
        ours, theirs = both(tmp_path, text.format(unit))
        assert compare_joints(ours, theirs) < tolerance.round_off


def test_included_files(tmp_path, tolerance):
    """A file beside the one that includes it, or beside the first one; its root may have any name."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.xml").write_text(
        '<part><worldbody><body name="one"><freejoint/><geom size=".1"/></body></worldbody>'
        '<include file="two.xml"/><include file="three.xml"/></part>'
    )
    body = '<anything><worldbody><body name="{}"><freejoint/><geom size=".2"/></body></worldbody></anything>'
    (tmp_path / "parts" / "two.xml").write_text(body.format("two"))
    (tmp_path / "three.xml").write_text(body.format("three"))
    ours, theirs = both(tmp_path, '<mujoco><include file="parts/one.xml"/></mujoco>')
    assert [body.name for body in ours.tree.bodies] == ["world", "one", "two", "three"]
    assert compare_bodies(ours, theirs)[1] < tolerance.round_off


def test_mechanisms_may_be_nested_deep(tmp_path):
    """Deeper than Python can recurse, and than MuJoCo reads."""
    count = 3000
    links = '<body pos="0 0 1"><joint/><geom size=".1"/>' * count + "</body>" * count
    path = tmp_path / "deep.xml"
    path.write_text(f"<mujoco><worldbody>{links}</worldbody></mujoco>")
    ours = read(path)
    assert len(ours.tree.bodies) == count + 1 and ours.tree.bodies[-1].parent == count - 1
