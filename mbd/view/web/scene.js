"use strict";
// Draws a scene: solids that move with bodies, links between points, trails, floor with shadows; turns it, picks in it.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const mul = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => mul(a, 1 / (size(a) || 1));
// quaternions are (w, x, y, z)
const turned = (q, v) => {
  const u = [q[1], q[2], q[3]];
  return add(v, mul(cross(u, add(cross(u, v), mul(v, q[0]))), 2));
};
const back = (q, v) => turned([q[0], -q[1], -q[2], -q[3]], v);
const product = (a, b) => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
  a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
  a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
];
// the smallest rotation that turns z into a unit vector
const along = (d) => {
  if (d[2] < -0.999999) return [0, 1, 0, 0];
  const q = [1 + d[2], -d[1], d[0], 0], n = Math.hypot(...q);
  return q.map((x) => x / n);
};

const SOLID = [`#version 300 es
layout(location=0) in vec3 p; layout(location=1) in vec3 n; layout(location=2) in vec3 place;
layout(location=3) in vec4 turn; layout(location=4) in vec3 scale; layout(location=5) in vec3 tint;
layout(location=6) in float weight;
uniform mat4 view; uniform vec3 up, sun; uniform float ground, stretch; uniform bool flat_;
out vec3 world, normal, colour;
vec3 rotated(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
void main() {
  world = place + rotated(turn, p * scale + vec3(0.0, 0.0, weight * stretch));
  if (flat_) world -= sun * ((dot(world, up) - ground) / dot(sun, up));
  normal = rotated(turn, n / max(scale, vec3(1e-9)));
  colour = tint;
  gl_Position = view * vec4(world, 1.0);
}`, `#version 300 es
precision highp float;
in vec3 world, normal, colour; uniform vec3 eye, sun, fill, shade; uniform bool flat_; out vec4 pixel;
void main() {
  if (flat_) { pixel = vec4(shade, 1.0); return; }
  vec3 n = normalize(normal), v = normalize(eye - world);
  if (dot(n, v) < 0.0) n = -n;
  float light = 0.32 + 0.75 * (0.72 * max(dot(n, sun), 0.0) + 0.38 * dot(n, v) + 0.3 * max(dot(n, fill), 0.0));
  float shine = 0.14 * pow(max(dot(reflect(-sun, n), v), 0.0), 20.0);
  pixel = vec4(colour * light + shine, 1.0);
}`];
const FLOOR = [`#version 300 es
uniform mat4 view; uniform vec3 origin, right, ahead; uniform float reach; out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  vec3 world = origin + reach * (at.x * right + at.y * ahead);
  at *= reach;
  gl_Position = view * vec4(world, 1.0);
}`, `#version 300 es
precision highp float;
in vec2 at; uniform vec3 plane, grid, sky; uniform float step_, reach; out vec4 pixel;
void main() {
  vec2 x = at / step_, w = fwidth(x), g = abs(fract(x - 0.5) - 0.5) / w;
  float line = (1.0 - min(min(g.x, g.y), 1.0)) * clamp(0.6 / max(w.x, w.y), 0.0, 1.0);
  float far = smoothstep(0.35, 1.0, length(at) / reach);
  pixel = vec4(mix(mix(plane, grid, line), sky, far), 1.0);
}`];
const TRAIL = [`#version 300 es
layout(location=0) in vec3 a; layout(location=1) in vec3 b;
uniform mat4 view; uniform vec2 window_; uniform float width;
void main() {
  vec4 p = view * vec4(a, 1.0), q = view * vec4(b, 1.0), here = (gl_VertexID & 1) == 0 ? p : q;
  vec2 d = (q.xy / q.w - p.xy / p.w) * window_;
  d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);
  vec2 side = vec2(-d.y, d.x) * ((gl_VertexID & 2) == 0 ? -1.0 : 1.0);
  vec2 ends = d * ((gl_VertexID & 1) == 0 ? -0.3 : 0.3);
  gl_Position = here + vec4((side + ends) * width / window_ * here.w, 0.0, 0.0);
}`, `#version 300 es
precision highp float;
uniform vec3 shade; out vec4 pixel;
void main() { pixel = vec4(shade, 1.0); }`];

class SceneView {
  constructor(canvas, overlay, data) {
    this.canvas = canvas; this.overlay = overlay; this.data = data; this.chosen = null; this.hidden = {};
    const gl = this.gl = canvas.getContext("webgl2", { antialias: true });
    this.rows = data.rows;
    this.place = new Float32Array(3 * this.rows); this.turn = new Float32Array(4 * this.rows);
    this.turn.forEach((_, k) => { if (k % 4 === 0) this.turn[k] = 1; });
    this.camera = null; this.dirty = true;
    this.labels = data.labels.map((label) => this.text(label.text, "label"));
    this.letters = data.axes ? ["x", "y", "z"].map((c, k) => this.text(c, "letter", data.axes.colours[k])) : [];
    if (!gl) return;
    this.solid = this.program(SOLID); this.floor = this.program(FLOOR); this.line = this.program(TRAIL);
    this.groups = data.solids.map((group) => this.group(group));
    this.links = data.links.map((link) => ({ ...link, mesh: this.mesh(link), live: new Float32Array(6) }));
    this.trails = data.trails.map((trail) => this.trail(trail));
    gl.enable(gl.DEPTH_TEST);
  }

  text(words, kind, colour) {
    const element = document.createElement("div");
    element.className = kind; element.textContent = words; element.setAttribute("aria-hidden", "true");
    if (colour) element.style.color = colour;
    this.overlay.append(element);
    return element;
  }

  program([vertex, fragment]) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const places = {}, count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let k = 0; k < count; k++) {
      const name = gl.getActiveUniform(program, k).name;
      places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places };
  }

  buffer(values, target, usage) {
    const gl = this.gl, buffer = gl.createBuffer();
    gl.bindBuffer(target || gl.ARRAY_BUFFER, buffer);
    gl.bufferData(target || gl.ARRAY_BUFFER, values, usage || gl.STATIC_DRAW);
    return buffer;
  }

  attribute(index, width, kind, normalized, divisor) {
    const gl = this.gl;
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, width, kind, normalized, 0, 0);
    gl.vertexAttribDivisor(index, divisor);
  }

  mesh(item) {
    const gl = this.gl, surface = this.data.surfaces[item.surface], array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.buffer(surface.points); this.attribute(0, 3, gl.FLOAT, false, 0);
    this.buffer(surface.normals); this.attribute(1, 3, gl.BYTE, true, 0);
    if (item.weights) { this.buffer(item.weights); this.attribute(6, 1, gl.FLOAT, false, 0); }
    this.buffer(surface.faces, gl.ELEMENT_ARRAY_BUFFER);
    const kind = surface.faces.BYTES_PER_ELEMENT === 2 ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT;
    return { array, count: surface.faces.length, kind };
  }

  group(item) {
    const gl = this.gl, n = item.rows.length, mesh = this.mesh(item);
    const group = { ...item, mesh, n, places: new Float32Array(3 * n), turns: new Float32Array(4 * n) };
    const scales = item.scales || new Float32Array(3 * n).fill(1);
    group.scales = scales; group.tints = Float32Array.from(item.colours, (x) => x / 255);
    group.placeBuffer = this.buffer(group.places, 0, gl.DYNAMIC_DRAW); this.attribute(2, 3, gl.FLOAT, false, 1);
    group.turnBuffer = this.buffer(group.turns, 0, gl.DYNAMIC_DRAW); this.attribute(3, 4, gl.FLOAT, false, 1);
    this.buffer(scales); this.attribute(4, 3, gl.FLOAT, false, 1);
    group.tintBuffer = this.buffer(group.tints, 0, gl.DYNAMIC_DRAW); this.attribute(5, 3, gl.FLOAT, false, 1);
    return group;
  }

  trail(item) {
    const gl = this.gl, array = gl.createVertexArray(), points = Float32Array.from(item.points);
    gl.bindVertexArray(array);
    const buffer = this.buffer(points, 0, gl.DYNAMIC_DRAW);
    for (const k of [0, 1]) {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 12, 12 * k);
      gl.vertexAttribDivisor(k, 1);
    }
    return { ...item, points, array, buffer, count: 0, moved: -1 };
  }

  // --- motion

  pose(row) { return [this.place.subarray(3 * row, 3 * row + 3), this.turn.subarray(4 * row, 4 * row + 4)]; }

  move() {
    if (!this.gl) return;
    const gl = this.gl;
    for (const group of this.groups) {
      for (let k = 0; k < group.n; k++) {
        const [p, q] = this.pose(group.rows[k]);
        group.places.set(add(p, turned(q, group.offsets.subarray(3 * k, 3 * k + 3))), 3 * k);
        group.turns.set(product(q, group.frames.subarray(4 * k, 4 * k + 4)), 4 * k);
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, group.placeBuffer); gl.bufferSubData(gl.ARRAY_BUFFER, 0, group.places);
      gl.bindBuffer(gl.ARRAY_BUFFER, group.turnBuffer); gl.bufferSubData(gl.ARRAY_BUFFER, 0, group.turns);
    }
    for (const trail of this.trails) {
      const n = trail.points.length / 3, [p, q] = this.pose(trail.row);
      gl.bindBuffer(gl.ARRAY_BUFFER, trail.buffer);
      if (trail.moved >= 0) {
        gl.bufferSubData(gl.ARRAY_BUFFER, 12 * trail.moved, trail.points, 3 * trail.moved, 3);
        trail.moved = -1;
      }
      if (trail.count < n) { // one more point follows the body
        const place = Float32Array.from(add(p, turned(q, trail.point)));
        gl.bufferSubData(gl.ARRAY_BUFFER, 12 * trail.count, place);
        trail.moved = trail.count;
      }
    }
    this.dirty = true;
  }

  paint(values) { // values: row -> [r, g, b], or nothing for the colours of the bodies
    if (!this.gl) return;
    const gl = this.gl;
    for (const group of this.groups) {
      for (let k = 0; k < group.n; k++) {
        const own = values && group.role === "body" && values.get(group.rows[k]);
        for (let c = 0; c < 3; c++) {
          const x = own ? own[c] : group.colours[3 * k + c] / 255;
          group.tints[3 * k + c] = group.owners[k] === this.chosen ? x + 0.45 * (1 - x) : x;
        }
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, group.tintBuffer); gl.bufferSubData(gl.ARRAY_BUFFER, 0, group.tints);
    }
    this.dirty = true;
  }

  // --- camera

  home() {
    const c = this.data.camera;
    this.camera = { target: [...c.target], offset: sub(c.position, c.target), up: c.up };
    this.fit();
    this.dirty = true; this.touched = false;
  }

  shift() { // of the world, where a body is followed
    const row = this.data.camera.follow;
    return row === null ? [0, 0, 0] : Array.from(this.pose(row)[0]);
  }

  fit() { // move back until everything fits, whatever the shape of the window
    const c = this.data.camera, direction = unit(this.camera.offset);
    const aspect = this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1), half = Math.tan(0.5 * c.fov);
    if (!c.fitted || c.follow !== null) {
      if (aspect < c.aspect) this.camera.offset = mul(this.camera.offset, Math.min(c.aspect / aspect, 3));
      return;
    }
    const right = unit(cross(c.up, direction)), above = cross(direction, right), points = this.data.cloud;
    let target = [...c.target], distance = 1;
    for (let round = 0; round < 6; round++) {
      distance = 0;
      for (let k = 0; k < points.length; k += 3) {
        const local = sub(points.subarray(k, k + 3), target), z = dot(local, direction);
        distance = Math.max(distance, Math.abs(dot(local, right)) / (half * aspect) + z, Math.abs(dot(local, above)) / half + z);
      }
      distance *= 1.16;
      let [x0, x1, y0, y1] = [1e9, -1e9, 1e9, -1e9];
      for (let k = 0; k < points.length; k += 3) {
        const local = sub(points.subarray(k, k + 3), target), depth = Math.max(distance - dot(local, direction), 1e-9);
        const x = dot(local, right) / depth, y = dot(local, above) / depth;
        x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
      }
      target = add(target, add(mul(right, 0.5 * distance * (x0 + x1)), mul(above, 0.5 * distance * (y0 + y1))));
    }
    this.camera.target = target; this.camera.offset = mul(direction, distance);
  }

  orbit(dx, dy) {
    const c = this.camera, up = c.up, distance = size(c.offset);
    let d = unit(c.offset);
    const height = Math.asin(Math.max(-1, Math.min(1, dot(d, up))));
    const next = Math.max(-1.55, Math.min(1.55, height + dy)) - height;
    const right = unit(cross(up, d));
    const spin = (axis, angle, v) => turned([Math.cos(angle / 2), ...mul(axis, Math.sin(angle / 2))], v);
    if (size(cross(up, d)) > 1e-6) d = spin(right, -next, d);
    c.offset = mul(unit(spin(up, -dx, d)), distance);
    this.dirty = this.touched = true;
  }

  pan(dx, dy) {
    const c = this.camera, d = unit(c.offset), right = unit(cross(c.up, d)), above = cross(d, right);
    const scale = 2 * size(c.offset) * Math.tan(0.5 * this.data.camera.fov) / this.canvas.clientHeight;
    c.target = add(c.target, add(mul(right, -dx * scale), mul(above, dy * scale)));
    this.dirty = this.touched = true;
  }

  zoom(factor) {
    this.camera.offset = mul(this.camera.offset, factor);
    this.dirty = this.touched = true;
  }

  frame() { // eye, directions and the projection as a matrix by columns
    const c = this.camera, shift = this.shift(), target = add(c.target, shift), eye = add(target, c.offset);
    const z = unit(c.offset), x = unit(cross(c.up, z)), y = cross(z, x);
    const aspect = this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1);
    const f = 1 / Math.tan(0.5 * this.data.camera.fov), near = 0.01 * size(c.offset), far = size(c.offset) + 30;
    const a = (far + near) / (near - far), b = 2 * far * near / (near - far);
    const rows = [[...mul(x, f / aspect), -dot(x, eye) * f / aspect], [...mul(y, f), -dot(y, eye) * f],
      [...mul(z, a), -dot(z, eye) * a + b], [...mul(z, -1), dot(z, eye)]];
    const view = new Float32Array(16);
    for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) view[4 * j + i] = rows[i][j];
    return { eye, x, y, z, f, aspect, view, rows };
  }

  project(p, frame) { // pixels from the top left corner; nothing behind the camera
    const { rows } = frame || this.frame();
    const [u, v, , w] = rows.map((r) => dot(r, p) + r[3]);
    if (w <= 0) return null;
    return [0.5 * (1 + u / w) * this.canvas.clientWidth, 0.5 * (1 - v / w) * this.canvas.clientHeight];
  }

  ray(x, y) {
    const { eye, x: right, y: above, z, f, aspect } = this.frame();
    const u = 2 * x / this.canvas.clientWidth - 1, v = 1 - 2 * y / this.canvas.clientHeight;
    return [eye, unit(add(add(mul(right, u * aspect / f), mul(above, v / f)), mul(z, -1)))];
  }

  pick(x, y) { // the first solid under a pixel: its group, number and the place where it is hit
    const [eye, direction] = this.ray(x, y);
    let best = null, nearest = Infinity;
    for (const group of this.groups || []) {
      if (group.role === "frame" || this.hidden[group.role]) continue;
      const { points, faces, radius } = this.data.surfaces[group.surface];
      for (let k = 0; k < group.n; k++) {
        const q = group.turns.subarray(4 * k, 4 * k + 4), s = group.scales.subarray(3 * k, 3 * k + 3);
        const o = back(q, sub(eye, group.places.subarray(3 * k, 3 * k + 3))), d = back(q, direction);
        const closest = sub(o, mul(d, dot(o, d)));
        if (size(closest) > radius * Math.max(s[0], s[1], s[2])) continue;
        const at = (i) => [points[3 * i] * s[0], points[3 * i + 1] * s[1], points[3 * i + 2] * s[2]];
        for (let i = 0; i < faces.length; i += 3) { // Möller & Trumbore 1997
          const a = at(faces[i]), u = sub(at(faces[i + 1]), a), v = sub(at(faces[i + 2]), a);
          const h = cross(d, v), det = dot(u, h);
          if (Math.abs(det) < 1e-18) continue;
          const from = sub(o, a), alpha = dot(from, h) / det, w = cross(from, u), beta = dot(w, d) / det;
          const t = dot(v, w) / det;
          if (alpha >= 0 && beta >= 0 && alpha + beta <= 1 && t > 0 && t < nearest) {
            nearest = t;
            best = { group, k, row: group.rows[k], owner: group.owners[k], place: add(eye, mul(direction, t)) };
          }
        }
      }
    }
    return best;
  }

  // --- drawing

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2), { clientWidth, clientHeight } = this.canvas;
    const width = Math.round(ratio * clientWidth), height = Math.round(ratio * clientHeight);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width; this.canvas.height = height; this.dirty = true;
    }
  }

  draw() {
    if (!this.camera) this.home();
    this.resize();
    if (!this.dirty) return;
    this.dirty = false;
    const frame = this.frame(), { colours, up, sun, fill, floor } = this.data;
    this.write(frame);
    if (!this.gl) return;
    const gl = this.gl, set = (p) => (name, ...x) => {
      if (p.places[name] === undefined) return;
      if (x.length === 1 && x[0].length === 16) gl.uniformMatrix4fv(p.places[name], false, x[0]);
      else if (x.length === 1 && x[0].length) gl[`uniform${x[0].length}f`](p.places[name], ...x[0]);
      else if (typeof x[0] === "boolean") gl.uniform1i(p.places[name], x[0] ? 1 : 0);
      else gl.uniform1f(p.places[name], x[0]);
    };
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(...colours.background, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const above = floor && dot(sub(frame.eye, floor.centre), up) > 0;
    gl.depthMask(false);
    if (floor) {
      gl.useProgram(this.floor.program);
      const give = set(this.floor);
      give("view", frame.view); give("origin", floor.centre); give("right", floor.right); give("ahead", floor.ahead);
      give("reach", floor.reach); give("step_", floor.step); give("plane", colours.floor); give("grid", colours.grid);
      give("sky", colours.background);
      gl.bindVertexArray(null);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    gl.useProgram(this.solid.program);
    const give = set(this.solid);
    give("view", frame.view); give("up", up); give("sun", sun); give("fill", fill); give("eye", frame.eye);
    give("ground", floor ? dot(floor.centre, up) : 0); give("shade", colours.shadow);
    for (const shadow of above ? [true, false] : [false]) {
      gl.depthMask(!shadow);
      give("flat_", shadow); give("stretch", 0);
      gl.vertexAttrib1f(6, 0);
      for (const group of this.groups) {
        if (this.hidden[group.role] || (shadow && (group.role === "frame" || group.role === "axes"))) continue;
        gl.bindVertexArray(group.mesh.array);
        const layer = shadow ? 0 : group.layer || 0; // equal bodies of several runs at the same place: the first run is seen
        if (layer) { gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(2 * layer, 8 * layer); }
        gl.drawElementsInstanced(gl.TRIANGLES, group.mesh.count, group.mesh.kind, 0, group.n);
        gl.disable(gl.POLYGON_OFFSET_FILL);
      }
      for (const link of this.links) {
        if (this.hidden[link.role] || (shadow && link.role !== "spring" && link.role !== "rod")) continue;
        const v = [link.live[3], link.live[4], link.live[5]], length = size(v);
        const scale = link.head ? Math.min(1, length / link.head) : 1;
        if (!(scale > 0.02)) continue;
        gl.bindVertexArray(link.mesh.array);
        gl.vertexAttrib3f(2, link.live[0], link.live[1], link.live[2]);
        gl.vertexAttrib4f(3, ...along(mul(v, 1 / (length || 1))));
        gl.vertexAttrib3f(4, scale, scale, scale); gl.vertexAttrib3f(5, ...link.colour);
        give("stretch", length - scale * link.head);
        gl.drawElements(gl.TRIANGLES, link.mesh.count, link.mesh.kind, 0);
      }
    }
    if (!this.hidden.trail && this.trails.length) {
      gl.useProgram(this.line.program);
      const put = set(this.line);
      put("view", frame.view); put("window_", [this.canvas.width, this.canvas.height]);
      put("width", 2.6 * this.canvas.width / this.canvas.clientWidth);
      for (const trail of this.trails) {
        const count = Math.min(trail.count, trail.points.length / 3 - 1);
        if (count < 1) continue;
        put("shade", trail.colour);
        gl.bindVertexArray(trail.array);
        gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
      }
    }
    gl.bindVertexArray(null);
  }

  write(frame) { // names and letters, inside the picture and beside each other
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, taken = [];
    const put = (element, place, hidden) => {
      const at = hidden ? null : this.project(place, frame);
      if (!at || at[0] < -0.1 * width || at[0] > 1.1 * width || at[1] < -0.1 * height || at[1] > 1.1 * height) {
        element.style.visibility = "hidden";
        return;
      }
      const w = 0.5 * element.offsetWidth + 1, h = 0.5 * element.offsetHeight + 1;
      const x = Math.max(w, Math.min(width - w, at[0])), y0 = Math.max(h, Math.min(height - h, at[1]));
      const beside = taken.filter((box) => Math.abs(box.x - x) < box.w + w);
      const free = [y0, ...beside.flatMap((box) => [box.y + box.h + h, box.y - box.h - h])]
        .filter((y) => y >= h && y <= height - h && beside.every((box) => Math.abs(box.y - y) >= box.h + h - 1e-6));
      const y = free.length ? free.reduce((a, b) => (Math.abs(b - y0) < Math.abs(a - y0) ? b : a)) : y0;
      const far = Math.abs(y - y0) > 7 * h; // a name far from its body misleads
      if (!far) taken.push({ x, y, w, h });
      element.style.visibility = far ? "hidden" : "visible";
      element.style.transform = `translate(${x - w + 1}px, ${y - h + 1}px)`;
    };
    this.letters.forEach((element, k) => put(element, this.data.axes.tips[k], this.hidden.axes));
    this.labels.forEach((element, k) => {
      const label = this.data.labels[k], [p, q] = this.pose(label.row);
      put(element, add(add(p, turned(q, label.offset)), mul(this.data.up, label.lift)), this.hidden.label);
    });
  }
}

// Turning, moving and zooming with mouse, fingers and keys; `taps` gets clicks, `grabs` may take over a drag.
function attachCamera(view, taps, grabs) {
  const canvas = view.canvas, fingers = new Map();
  let moved = 0, taken = null;
  const local = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId); canvas.focus({ preventScroll: true });
    moved = fingers.size ? 99 : 0;
    taken = !fingers.size && event.button === 0 && grabs ? grabs.start(...local(event), event) : null;
    fingers.set(event.pointerId, local(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const here = local(event), dx = here[0] - last[0], dy = here[1] - last[1];
    moved += Math.abs(dx) + Math.abs(dy);
    if (taken) { grabs.move(taken, ...here); fingers.set(event.pointerId, here); return; }
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      view.zoom(gap(last) / Math.max(gap(here), 1)); view.pan(0.5 * dx, 0.5 * dy);
    } else if (moved > 4) {
      if (event.buttons & 2 || event.buttons & 4 || event.shiftKey) view.pan(dx, dy);
      else view.orbit(0.008 * dx, 0.008 * dy);
    }
    fingers.set(event.pointerId, here);
  });
  const end = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (taken) { grabs.end(taken); taken = null; }
    if (event.type === "pointerup" && moved <= 4 && event.button === 0) taps(...local(event));
  };
  canvas.addEventListener("pointerup", end); canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); view.zoom(Math.exp(0.0012 * event.deltaY)); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (event.shiftKey && step) view.orbit(...step);
    else if (event.key === "+" || event.key === "PageUp") view.zoom(0.9);
    else if (event.key === "-" || event.key === "PageDown") view.zoom(1 / 0.9);
    else return;
    event.preventDefault(); event.stopPropagation();
  });
}

// The numbers of a page: a packed block to which its description refers as {"$": [first byte, count, kind]}
async function unpacked(text, description) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const block = await new Response(stream).arrayBuffer();
  const kinds = { f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
  const filled = (x) => {
    if (Array.isArray(x)) return x.map(filled);
    if (x === null || typeof x !== "object") return x;
    if (x.$) return new kinds[x.$[2]](block, x.$[0], x.$[1]);
    return Object.fromEntries(Object.entries(x).map(([key, value]) => [key, filled(value)]));
  };
  return filled(description);
}
