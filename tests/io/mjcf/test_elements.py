"""Which elements an MJCF file becomes, and what they do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from tests.io.mjcf import mechanisms
from tests.io.mjcf.comparison import quietly

PENDULUM = """<mujoco model="one"><compiler angle="radian"/>{head}<worldbody>
  <body name="rod"><joint name="hinge" axis="0 1 0" {joint}/><geom type="box" size=".1 .1 .5" mass="3" pos="0 0 -.5"/>
    <body name="tool" pos="0 0 -1" euler="0 0 1"><geom size=".1" mass=".5"/><site name="tip" pos="0 0 -.2"/></body>
  </body></worldbody>{tail}</mujoco>"""


def load(tmp_path, joint="", head="", tail="", **options):
    path = tmp_path / "one.xml"
    path.write_text(PENDULUM.format(joint=joint, head=head, tail=tail))
    return quietly(mbd.load_mjcf, path, **options)


def test_a_body_and_its_parts(tmp_path):
    model = load(tmp_path)
    assert model.name == "one" and model.gravity.tolist() == [0, 0, -9.81]
    assert [body.name for body in model.bodies] == ["rod"] and model["rod"].mass == 3.5
    assert isinstance(model["hinge"], mbd.joints.Revolute) and not model.forces
    box, ball = model["rod"].shape.parts
    assert box.size == pytest.approx((0.2, 0.2, 1.0)) and ball.centre == pytest.approx((0, 0, -1))


def test_bodies_and_sites_that_are_kept(tmp_path):
    """They move as the body does of which they were a part."""
    kept = load(tmp_path, keep=["tool", "tip"], positions={"hinge": 0.4})
    assert [body.name for body in kept.bodies] == ["rod", "tool", "tip"]
    assert (kept["rod"].mass, kept["tool"].mass, kept["tip"].mass) == (3.0, 0.5, 0.0)
    merged = load(tmp_path, positions={"hinge": 0.4})
    method = mbd.integrators.RK4()
    one, two = (mbd.simulate(model, 0.2, 1e-3, integrator=method) for model in (kept, merged))
    assert np.abs(one["rod"].rotation - two["rod"].rotation).max() < 1e-11
    assert np.abs(one["tip"].position - two["rod"].point((0, 0, -1.2))).max() < 1e-11
    assert np.abs(one["tool"].rotation[:, :, 0] - two["rod"].rotation @ (math.cos(1), math.sin(1), 0)).max() < 1e-11
    with pytest.raises(mbd.ModelError, match="keep names 'tol', which is not in the file; did you mean 'tool'"):
        load(tmp_path, keep=["tol"])
    with pytest.raises(mbd.ModelError, match="keep = 'tip'; expected a list of names"):
        load(tmp_path, keep="tip")


def test_springs_friction_and_armature(tmp_path):
    model = load(tmp_path, 'stiffness="7" springref=".3" ref=".1" damping=".2" frictionloss=".4" armature=".6"')
    spring, friction, armature = (model[f"{what} of hinge"] for what in ("spring", "friction", "armature"))
    assert (spring.stiffness, spring.rest) == (7.0, 0.3)
    assert (friction.viscous, friction.coulomb) == (0.2, 0.4)
    assert armature.reflected_inertia == 0.6 and armature.torque == 0.0
    inertia = 3.0 * (0.2**2 + 1.0) / 12.0 + 3.0 * 0.25 + 0.5 * (0.4 * 0.01 + 1.0) + 0.6
    vd = mbd.simulate(model, 1e-3, 1e-3, integrator=mbd.integrators.RK4())["rod"].angular_acceleration[0]
    assert vd[1] == pytest.approx(-7.0 * (0.1 - 0.3) / inertia, rel=1e-9)  # it hangs: nothing but the spring


@pytest.mark.parametrize(
    ("flag", "gone"),
    [
        ("spring", ["spring"]),
        ("damper", []),
        ("passive", ["spring"]),
        ("frictionloss", []),
        ("limit", ["limit"]),
        ("constraint", ["limit", "gear"]),
        ("equality", ["gear"]),
        ("actuation", ["drive"]),
    ],
)
def test_what_the_file_switches_off(tmp_path, flag, gone):
    joint = 'stiffness="7" damping=".2" frictionloss=".4" range="-1 1"'
    tail = '<actuator><motor name="drive" joint="hinge"/></actuator>'
    tail += '<equality><joint name="gear" joint1="hinge"/></equality>'
    model = load(tmp_path, joint, f'<option><flag {flag}="disable"/></option>', tail)
    names = {"spring": "spring of hinge", "limit": "limit of hinge", "gear": "gear", "drive": "drive"}
    assert sorted(key for key, name in names.items() if name not in model) == sorted(gone)
    friction = model["friction of hinge"]
    assert friction.viscous == (0.0 if flag in ("damper", "passive") else 0.2)
    assert friction.coulomb == (0.0 if flag in ("frictionloss", "constraint") else 0.4)


def test_gravity(tmp_path):
    assert load(tmp_path, head='<option gravity="1 2 3"/>').gravity.tolist() == [1, 2, 3]
    assert load(tmp_path, head='<option gravity="1 2 3"><flag gravity="disable"/></option>').gravity.tolist() == [
        0,
        0,
        0,
    ]
    assert load(tmp_path, head='<option gravity="1 2 3"/>', gravity=(0, 0, -1)).gravity.tolist() == [0, 0, -1]


def test_ranges_become_stops(tmp_path):
    """Stiffness I / T^2 and damping 2 I / T with the inertia I that the joint moves, armature included."""
    inertia = 3.0 * (0.2**2 + 1.0) / 12.0 + 3.0 * 0.25 + 0.5 * (0.4 * 0.01 + 1.0) + 0.6
    stop = load(tmp_path, 'range="-.5 .7" armature=".6"')["limit of hinge"]
    assert (stop.lower, stop.upper) == (-0.5, 0.7)
    assert stop.stiffness == pytest.approx(inertia / 0.02**2) and stop.damping == pytest.approx(2 * inertia / 0.02)
    stop = load(tmp_path, 'range="-.5 .7" armature=".6" margin=".1"', limits=0.1)["limit of hinge"]
    assert (stop.lower, stop.upper) == pytest.approx((-0.4, 0.6))
    assert stop.stiffness == pytest.approx(inertia / 0.1**2)
    stop = load(tmp_path, 'range="-.5 .7" armature=".6" solreflimit=".05 .5"', limits=0.1)["limit of hinge"]
    assert stop.stiffness == pytest.approx(inertia / 0.025**2) and stop.damping == pytest.approx(2 * inertia / 0.05)
    stop = load(tmp_path, 'range="-.5 .7" armature=".6" solreflimit="-300 -20"')["limit of hinge"]
    assert stop.stiffness == pytest.approx(300 * inertia) and stop.damping == pytest.approx(20 * inertia)
    without = load(tmp_path, 'range="-.5 .7"', limits=None)
    assert not without.forces and without["hinge"].range == (-0.5, 0.7)
    with pytest.raises(mbd.ModelError, match="limits = 0; expected a positive number"):
        load(tmp_path, limits=0)


def test_a_stop_holds(tmp_path):
    """A pendulum that falls from the side comes to rest near its stop, not beyond."""
    model = load(tmp_path, 'range="-1.5 -.2" damping="2"', positions={"hinge": -1.4})
    angle = mbd.simulate(model, 4.0, 1e-3)["hinge"].angle
    assert angle.max() < -0.2 + 0.05 and abs(angle[-1] + 0.2) < 0.01


def test_a_start_outside_the_range_is_told(tmp_path):
    path = tmp_path / "one.xml"
    path.write_text(PENDULUM.format(joint='range=".2 1"', head="", tail=""))
    with pytest.warns(mbd.ModelWarning, match=r"joint@range \('hinge'\): no stops, because the start is outside"):
        assert not mbd.load_mjcf(path).forces
    assert len(quietly(mbd.load_mjcf, path, positions={"hinge": 0.5}).forces) == 1


ACTUATORS = """<actuator><motor name="m" joint="hinge" gear="-4" ctrlrange="-1 1"/>
  <position name="p" joint="hinge" kp="8" kv=".5" gear="2" forcerange="-6 6"/>
  <velocity name="v" joint="hinge" kv="3" gear="2"/>
  <general name="g" joint="hinge" gainprm="2" biastype="affine" biasprm="1 -5 -.5"/></actuator>"""


def torque_of(actuator, control, q, rate):
    """What MuJoCo documents: gear * clip(gain * clip(control) + bias)."""
    gear, gain, bias, ctrl, force = {
        "m": (-4.0, 1.0, (0, 0, 0), 1.0, math.inf),
        "p": (2.0, 8.0, (0, -8.0, -0.5), math.inf, 6.0),
        "v": (2.0, 3.0, (0, 0, -3.0), math.inf, math.inf),
        "g": (1.0, 2.0, (1.0, -5.0, -0.5), math.inf, math.inf),
    }[actuator]
    value = gain * np.clip(control, -ctrl, ctrl) + bias[0] + bias[1] * gear * q + bias[2] * gear * rate
    return gear * np.clip(value, -force, force)


@pytest.mark.parametrize("name", "mpvg")
@pytest.mark.parametrize("control", [0.0, 0.7, 5.0, "function"])
def test_actuators(tmp_path, name, control):
    """The torque at the start, for numbers and for functions of time, inside limits and beyond."""

    def waving(t):
        return 0.4 * math.cos(3.0 * t)

    given = waving if control == "function" else control
    q, rate = 0.3, -0.8
    keyframe = f'<keyframe><key name="go" qpos="{q}" qvel="{rate}"/></keyframe>'
    head = '<option gravity="0 0 0"/>'
    model = load(tmp_path, head=head, tail=ACTUATORS + keyframe, keyframe="go", controls={name: given})
    for other in "mpvg":
        if other != name:
            model.remove(other)
    solution = mbd.simulate(model, 1e-3, 1e-3, integrator=mbd.integrators.RK4())
    inertia = 3.0 * (0.2**2 + 1.0) / 12.0 + 3.0 * 0.25 + 0.5 * (0.4 * 0.01 + 1.0)
    expected = torque_of(name, waving(0.0) if control == "function" else control, q, rate)
    assert inertia * solution["rod"].angular_acceleration[0, 1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_efforts_and_limits(tmp_path):
    model = load(tmp_path, tail=ACTUATORS)
    assert (model["m"].limit, model["p"].limit, model["v"].limit) == (4.0, 12.0, None)
    only = '<actuator><motor name="m" joint="hinge" gear="3" {}/></actuator>'
    assert load(tmp_path, tail=only.format('ctrlrange="-2 2"'))["hinge"].effort == 6.0
    model = load(tmp_path, 'actuatorfrcrange="-5 5"', tail=only.format('ctrlrange="-2 2"'))
    assert model["hinge"].effort == 5.0 == model["m"].limit
    model = load(tmp_path, tail=only.format('forcerange="-1 2"'), controls={"m": 7.0})
    assert model["hinge"].effort == 6.0 and model["m"].limit is None and model["m"].torque == 6.0
    assert load(tmp_path, tail=only.format(""))["hinge"].effort is None


def test_controls_are_checked(tmp_path):
    with pytest.raises(mbd.ModelError, match="controls names the actuator 'x'; expected one of g, m, p, v"):
        load(tmp_path, tail=ACTUATORS, controls={"x": 1.0})
    with pytest.raises(mbd.ModelError, match="nan"):
        load(tmp_path, tail=ACTUATORS, controls={"m": math.nan})
    with pytest.raises(mbd.ModelError, match="keyframe has 1 controls; expected 4"):
        load(tmp_path, tail=ACTUATORS + '<keyframe><key ctrl="1"/></keyframe>', keyframe="0")


def test_positions_and_keyframes_are_checked(tmp_path):
    with pytest.raises(mbd.ModelError, match="positions names the joint 'x', which is not in the file"):
        load(tmp_path, positions={"x": 1.0})
    with pytest.raises(mbd.ModelError, match="joint 'hinge': position = inf; expected a number, finite"):
        load(tmp_path, positions={"hinge": math.inf})
    with pytest.raises(mbd.ModelError, match="keyframe = 'x' is not in the file; it has 'a', '1'"):
        load(tmp_path, tail='<keyframe><key name="a"/><key/></keyframe>', keyframe="x")
    with pytest.raises(mbd.ModelError, match=r"line 4: <key name=\"a\">: qpos = '1 2'; expected a finite number"):
        load(tmp_path, tail='<keyframe><key name="a" qpos="1 2"/></keyframe>', keyframe="a")
    free = mechanisms.CHAIN.replace('<joint type="free"', '<joint type="free" name="root"')
    (tmp_path / "chain.xml").write_text(free)
    with pytest.raises(mbd.ModelError, match="positions gives a value for the free joint 'root'"):
        quietly(mbd.load_mjcf, tmp_path / "chain.xml", positions={"root": 1.0})


def test_links_without_mass(tmp_path):
    """Several joints of a body are joints of links without mass, all of which show their own values."""
    path = tmp_path / "chain.xml"
    path.write_text(mechanisms.CHAIN)
    model = quietly(mbd.load_mjcf, path)
    names = [body.name for body in model.bodies if body.mass == 0.0]
    assert names == ["base link 1", "base link 2", "arm link 1", "arm link 2", "slider link 1"]
    joint = model["pitch"]
    assert (joint.body_a.name, joint.body_b.name) == ("arm link 1", "arm link 2")
    with pytest.raises(mbd.IncompatibleError, match="LieEM needs bodies with mass; body 'base link 1' has none"):
        mbd.simulate(model, 0.1, 1e-3, integrator=mbd.integrators.LieEM())


def test_names_of_several_kinds(tmp_path):
    """A body, a joint and an actuator of one name; elements without any."""
    text = """<mujoco><worldbody><body name="arm"><joint name="arm"/><geom size=".1"/>
      <body><joint axis="1 0 0"/><geom size=".1"/></body><body name="ground" pos="0 0 1"><joint/><joint axis="1 0 0"/>
      <geom size=".1"/></body></body></worldbody><actuator><motor name="arm" joint="arm"/><motor joint="arm"/>
      </actuator></mujoco>"""
    path = tmp_path / "names.xml"
    path.write_text(text)
    model = quietly(mbd.load_mjcf, path, controls={"arm": 0.5})
    assert [body.name for body in model.bodies] == ["arm", "body 1", "ground body link 1", "ground body"]
    assert [joint.name for joint in model.joints] == ["arm joint", "revolute 1", "revolute 2", "revolute 3"]
    assert [force.name for force in model.forces] == ["arm actuator", "motor of arm joint"]
    assert model["arm actuator"].torque == 0.5
