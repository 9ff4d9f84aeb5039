"""MJCF files for tests: each uses many of the features that a reader can get wrong."""

from __future__ import annotations

FRAMES = """<mujoco model="frames">
  <compiler eulerseq="zYx"/>
  <worldbody>
    <body name="quat" quat="2 1 -1 0.5" pos="0.1 0.2 0.3"><freejoint/><geom size=".1"/>
      <body name="axisangle" axisangle="1 -2 3 70"><joint/><geom size=".1"/></body>
      <body name="xyaxes" xyaxes="1 2 0.5 0 1 1"><joint axis="1 1 0" pos=".1 0 .2"/><geom size=".1"/></body>
      <body name="zaxis" zaxis="1 -2 0.3"><joint type="slide" axis="0 3 4"/><geom size=".1"/></body>
      <body name="down" zaxis="0 0 -1"><joint/><geom size=".1"/></body>
      <body name="euler" euler="10 200 -35"><joint/><geom size=".1"/></body>
    </body>
    <frame pos="1 0 0" euler="0 0 40">
      <frame axisangle="0 1 0 30" pos="0 .1 0">
        <body name="framed" pos=".2 0 0" quat="1 0 .5 0">
          <frame pos="0 .3 .1" euler="20 0 0">
            <joint name="hinge" axis="0 1 1" pos=".1 .2 .3"/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
            <geom type="capsule" size=".05" fromto="0 0 0 .3 .2 .1"/><site name="place" pos=".1 .2 .3" euler="5 6 7"/>
            <body name="inner" pos="0 0 .4"><joint type="ball"/>
              <frame euler="0 90 0"><inertial pos="1 2 3" mass="2" diaginertia="1 1.2 1.4"/></frame></body>
          </frame>
        </body>
      </frame>
    </frame>
  </worldbody>
</mujoco>"""

MASSES = """<mujoco>
  <compiler angle="radian" inertiagrouprange="0 2" boundmass="0.02" boundinertia="1e-4" balanceinertia="true"
    {settotalmass}/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1  .3 .3 .9" scale=".3 -.2 .4" refpos=".1 0 0" refquat="1 2 0 0"
      inertia="convex"/>
    <mesh name="solid" vertex="0 0 0  1 0 0  0 2 0  0 0 1" face="0 2 1  0 1 3  0 3 2  1 2 3" inertia="exact"/>
    <mesh name="hull" vertex="0 0 0  1 0 0  0 2 0  0 0 1" inertia="shell"/>
    <mesh name="dart" vertex="0 0 0  2 0 0  .3 .3 0  0 2 0  .2 .2 1" face="0 2 1 0 3 2 0 1 4 1 2 4 2 3 4 3 0 4"/>
  </asset>
  <worldbody>
    <geom type="box" size="5 5 5"/>
    <body name="sphere"><freejoint/><geom size=".1" pos="1 2 3"/></body>
    <body name="capsule"><freejoint/><geom type="capsule" size=".1 .4" euler="1 2 3"/></body>
    <body name="cylinder"><freejoint/><geom type="cylinder" size=".1" fromto="0 0 0 1 2 3" density="500"/></body>
    <body name="box"><freejoint/><geom type="box" size=".1 .2 .3" mass="3" zaxis="1 1 0"/></body>
    <body name="ellipsoid"><freejoint/><geom type="ellipsoid" size=".1 .2 .3" euler="1 0 0"/></body>
    <body name="shells"><freejoint/>
      <geom type="sphere" size=".1" shellinertia="true" density="10"/>
      <geom type="capsule" size=".1 .4" shellinertia="true" density="20" pos="1 0 0"/>
      <geom type="cylinder" size=".1 .3" shellinertia="true" mass="2" pos="0 1 0" euler="1 0 0"/>
      <geom type="box" size=".1 .2 .3" shellinertia="true" mass="1" euler="0 1 0"/></body>
    <body name="meshes"><freejoint/><geom type="mesh" mesh="wedge" pos="1 0 0" euler="1 2 3"/>
      <geom type="mesh" mesh="solid" mass="2"/><geom type="mesh" mesh="hull" density="3"/>
      <geom type="mesh" mesh="dart" density="7"/></body>
    <body name="groups"><freejoint/><geom size=".1" group="2"/>
      <geom size=".2" group="3"/><geom size=".3" mass="0"/></body>
    <body name="given"><freejoint/><inertial pos=".1 .2 .3" mass="2" fullinertia="2 3 4 .1 .2 .3"/>
      <geom size="1"/></body>
    <body name="turned"><freejoint/><inertial pos="0 0 1" mass="1" diaginertia="1 2 2.5" euler="1 2 3"/></body>
    <body name="impossible"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>
    <body name="light"><freejoint/><geom size=".001"/></body>
    <body name="parts"><freejoint/><geom size=".1"/><body pos="1 0 0" euler="1 0 0"><geom size=".2" pos="0 1 0"/>
      <body pos="0 0 1"><geom type="box" size=".1 .1 .3"/></body></body></body>
  </worldbody>
</mujoco>"""

CLASSES = """<mujoco>
  <default>
    <joint damping="0.2" range="-100 80" armature=".01"/>
    <geom density="300" type="capsule" size=".05 .2"/>
    <position kp="20" kv="2" ctrlrange="-1 1"/>
    <default class="stiff"><joint stiffness="7" springref="15" damping="0.5"/><geom size=".1 .1"/>
      <default class="slides"><joint type="slide" range="-.3 .4"/><velocity kv="3"/></default></default>
    <default class="plain"><joint damping="0" limited="false"/>
      <general gainprm="9" biastype="affine" biasprm="1 -2 -3"/></default>
  </default>
  <worldbody>
    <body name="one"><joint name="a"/><geom/>
      <body name="two" childclass="stiff" pos="0 0 .3"><joint name="b" axis="0 1 0"/><geom/>
        <body name="three" pos=".1 0 .3"><joint name="c" class="slides" axis="1 0 0"/><geom/>
          <frame childclass="plain"><body name="four" pos="0 0 .3"><joint name="d" axis="1 0 0" ref="30"/><geom/>
            <body name="five" pos="0 0 .2"><joint name="e" class="main" axis="0 1 0"/><geom class="stiff"/></body>
          </body></frame></body></body></body>
  </worldbody>
  <actuator>
    <position name="p" joint="a"/>
    <position name="inherits" joint="b" class="slides" kp="5" gear="-3"/>
    <velocity name="v" joint="c" class="slides" forcerange="-4 4"/>
    <motor name="m" joint="d" class="plain" gear="5" armature=".002" damping=".03"/>
    <general name="g" joint="e" class="plain" forcerange="-3 3"/>
    <position name="critical" joint="e" class="main" dampratio=".7"/>
  </actuator>
</mujoco>"""

CHAIN = """<mujoco model="chain">
  <option gravity="0.3 -1 -9.5"><flag contact="disable"/></option>
  <worldbody>
    <body name="base" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0" damping=".3 .1 .05" stiffness="4 1 2" springref=".1"/>
      <joint name="z" type="slide" axis="0 .6 .8" ref=".2"/>
      <joint name="yaw" axis="0 0 1" pos=".1 0 0" damping=".2" stiffness="3" springref="20"/>
      <geom type="box" size=".2 .1 .1" mass="2" pos="0 .05 0"/>
      <body name="arm" pos=".2 .1 0" euler="0 30 0">
        <joint name="roll" axis="1 0 0" armature=".05" damping=".1"/>
        <joint name="pitch" axis=".2 1 0" pos="0 0 .1" ref="-15" damping=".05 .02 .01" stiffness="2 .5 .3"/>
        <joint name="twist" axis="0 0 1" pos=".05 0 0" armature=".02"/>
        <geom type="capsule" size=".05" fromto="0 0 0 .4 0 .1"/>
        <body name="fixed" pos=".1 0 0"><geom type="sphere" size=".06" mass=".4"/>
          <body name="ball" pos=".4 0 .1">
            <joint name="socket" type="ball" damping=".15" pos="0 .02 0"/>
            <geom type="ellipsoid" size=".1 .06 .08" pos=".05 0 0"/>
            <body name="slider" pos=".1 .05 0">
              <joint name="push" type="slide" axis="1 1 0" damping="2"/><joint name="spin" axis="1 1 0" armature=".01"/>
              <geom type="cylinder" size=".04 .1" euler="20 10 0"/>
            </body>
          </body>
        </body>
      </body>
    </body>
    <body name="free" pos="1 0 0"><joint type="free" damping=".1"/><geom type="box" size=".1 .2 .05" pos=".03 0 0"/>
      <body name="rider" pos="0 0 .2"><joint axis="1 0 0"/><geom size=".1" pos="0 .1 .1"/></body></body>
  </worldbody>
  <actuator>
    <motor name="roll motor" joint="roll" gear="3" ctrlrange="-2 2"/>
    <position name="pitch servo" joint="pitch" kp="12" kv=".6" gear="1.5"/>
    <velocity name="spin servo" joint="spin" kv=".4" forcerange="-3 3"/>
    <motor name="push motor" joint="push" armature=".03" gear="2"/>
  </actuator>
</mujoco>"""
