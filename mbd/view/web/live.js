"use strict";
// Shows a running simulation: pictures come as events, commands go back; bodies are dragged with mouse or finger.

const TRAIL_POINTS = 1500, SECONDS = 10, SAMPLES = 1500;

class LiveView {
  constructor(data) {
    const byId = (id) => document.getElementById(id);
    this.data = data; this.t = null; this.playing = true; this.frames = 0; this.held = null;
    data.time = { start: -SECONDS, end: 0, size: 1, unit: "s", digits: 2 };
    for (const trail of data.trails) trail.points = new Float32Array(3 * TRAIL_POINTS);
    const view = this.view = new SceneView(byId("scene"), byId("overlay"), data);
    if (!view.gl) byId("failed").hidden = false;
    this.panel = byId("values"); this.message = byId("message"); this.now = byId("now"); this.factor = byId("factor");
    this.arrows = byId("arrows");
    byId("curves").hidden = !data.curves.length;
    for (const { lines } of data.curves) for (const line of lines) { line.t = []; line.y = []; }
    this.curves = data.curves.map((curve) => new Curve(curve, this));
    this.line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    byId("pull").append(this.line);
    this.sliders = data.live.sliders.map((slider) => this.slider(slider, byId("sliders")));
    byId("sliders").hidden = !this.sliders.length;
    this.controls(byId);
    view.turn.fill(0); for (let r = 0; r < data.rows; r++) view.turn[4 * r] = 1;
    this.source = new EventSource("stream");
    this.source.onmessage = (event) => this.show(JSON.parse(event.data));
    this.source.onerror = () => this.tell("The simulation has ended, or cannot be reached.");
    const draw = () => { view.draw(); this.pull(); requestAnimationFrame(draw); };
    requestAnimationFrame(draw);
  }

  send(command) {
    return fetch("command", { method: "POST", body: JSON.stringify(command) }).then(async (answer) => {
      if (!answer.ok) this.tell(await answer.text());
    }).catch(() => this.tell("The simulation cannot be reached."));
  }

  tell(text) { if (this.message.textContent !== text) this.message.textContent = text; this.message.hidden = !text; }

  slider({ name, kind, low, high, value }, box) {
    const label = document.createElement("label"), input = document.createElement("input"), out = document.createElement("output");
    const words = document.createElement("span");
    words.textContent = name; label.title = kind === "input" ? "acts at once" : "the run goes on with it";
    Object.assign(input, { type: "range", min: low, max: high, step: 10 ** Math.floor(Math.log10((high - low) / 200)), value });
    input.setAttribute("aria-label", name);
    out.textContent = number(value);
    input.addEventListener("input", () => {
      out.textContent = number(Number(input.value));
      this.moving = input;
      if (kind === "input") this.send({ do: "set", name, value: Number(input.value) });
    });
    input.addEventListener("change", () => {
      this.moving = null;
      this.send({ do: "set", name, value: Number(input.value) });
    });
    label.append(words, input, out); box.append(label);
    return { input, out };
  }

  controls(byId) {
    this.playButton = byId("play");
    this.playButton.addEventListener("click", () => this.send({ do: this.playing ? "pause" : "play" }));
    byId("reset").addEventListener("click", () => this.send({ do: "reset" }));
    byId("step").addEventListener("click", () => this.send({ do: "step" }));
    byId("home").addEventListener("click", () => this.view.home());
    byId("close").addEventListener("click", () => this.choose(null));
    const speed = byId("speed");
    for (const f of [0.1, 0.25, 0.5, 1, 2, 4]) speed.append(new Option(`× ${number(f * this.data.live.speed)}`, f * this.data.live.speed));
    speed.value = this.data.live.speed;
    speed.addEventListener("change", () => this.send({ do: "speed", value: Number(speed.value) }));
    const owners = byId("owner");
    this.data.owners.forEach(({ name }, k) => owners.append(new Option(name, k)));
    owners.addEventListener("change", () => this.choose(owners.value === "" ? null : Number(owners.value)));
    new ResizeObserver(() => { if (!this.view.touched) this.view.home(); this.view.dirty = true; }).observe(byId("stage"));
    attachCamera(this.view, (x, y) => { const hit = this.view.pick(x, y); this.choose(hit && this.data.owners[hit.owner] ? hit.owner : null); }, {
      start: (x, y, event) => {
        const hit = event.shiftKey ? null : this.view.pick(x, y);
        if (!hit || !this.data.owners[hit.owner] || !this.data.owners[hit.owner].draggable) return null;
        return { ...hit, held: false, from: [x, y] };
      },
      move: (grip, x, y) => {
        if (!grip.held && Math.hypot(x - grip.from[0], y - grip.from[1]) < 4) return;
        if (!grip.held) { grip.held = true; this.send({ do: "grab", owner: grip.owner, place: grip.place }); }
        // in the plane through the gripped place that faces the camera
        const [eye, direction] = this.view.ray(x, y), normal = unit(this.view.camera.offset);
        const t = dot(sub(grip.place, eye), normal) / dot(direction, normal);
        this.wanted = add(eye, mul(direction, t));
        if (!this.sending) {
          this.sending = true;
          const target = this.wanted; this.wanted = null;
          this.send({ do: "drag", place: target }).then(() => {
            this.sending = false;
            if (this.wanted && grip.held) { this.send({ do: "drag", place: this.wanted }); this.wanted = null; }
          });
        }
      },
      end: (grip) => { if (grip.held) { grip.held = false; this.wanted = null; this.send({ do: "release" }); } },
    });
    const keys = { " ": () => this.playButton.click(), r: () => byId("reset").click(), ".": () => byId("step").click(),
      c: () => this.view.home(), Escape: () => this.choose(null) };
    addEventListener("keydown", (event) => {
      const own = ["SELECT", "INPUT"].includes(event.target.tagName) || (event.target.tagName === "BUTTON" && event.key === " ");
      if (own || event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
      keys[event.key](); event.preventDefault();
    });
  }

  choose(owner) {
    this.view.chosen = owner; this.view.paint(null);
    document.getElementById("owner").value = owner === null ? "" : owner;
    this.panel.hidden = owner === null;
    if (owner !== null) {
      this.panel.querySelector("h2").textContent = this.data.owners[owner].name;
      this.panel.querySelector("p").textContent = this.data.owners[owner].facts;
      this.panel.querySelector("tbody").replaceChildren();
    }
    this.send({ do: "choose", owner });
  }

  show(picture) {
    const { view, data } = this, bytes = Uint8Array.from(atob(picture.numbers), (c) => c.charCodeAt(0));
    const numbers = new Float32Array(bytes.buffer), rows = data.rows, again = this.t !== null && picture.t < this.t;
    const still = picture.t === this.t;
    this.t = picture.t; this.frames += 1;
    view.place.set(numbers.subarray(0, 3 * rows)); view.turn.set(numbers.subarray(3 * rows, 7 * rows));
    (view.links || []).forEach((link, k) => link.live.set(numbers.subarray(7 * rows + 6 * k, 7 * rows + 6 * k + 6)));
    if (again) {
      for (const trail of view.trails || []) trail.count = 0;
      for (const { data: curve } of this.curves) for (const line of curve.lines) { line.t.length = 0; line.y.length = 0; }
    }
    if (!still) this.grow();
    view.move();
    this.now.textContent = `${this.t.toFixed(2)} s`;
    this.factor.textContent = picture.playing && picture.factor < 0.9 ? `${Math.round(100 * picture.factor)} % of the speed` : "";
    if (picture.playing !== this.playing || !this.playButton.title) {
      this.playing = picture.playing;
      this.playButton.setAttribute("aria-label", this.playing ? "pause" : "play");
      this.playButton.title = this.playing ? "pause (space)" : "play (space)";
      this.playButton.firstElementChild.firstElementChild.setAttribute("d", this.playing ? "M2 1h4v14H2zM10 1h4v14h-4z" : "M2 1l12 7-12 7z");
    }
    this.tell(picture.message);
    const scales = picture.arrows.join("\n");
    if (this.arrows.textContent !== scales) this.arrows.textContent = scales;
    this.sliders.forEach(({ input, out }, k) => {
      if (input !== this.moving) { input.value = picture.sliders[k]; out.textContent = number(picture.sliders[k]); }
    });
    this.held = picture.hand || null;
    if (picture.values) this.values(picture.values);
    if (!still || again) this.write(picture.curves);
  }

  grow() { // trails
    const gl = this.view.gl;
    for (const trail of this.view.trails || []) {
      const [p, q] = this.view.pose(trail.row), place = add(p, turned(q, trail.point)), points = trail.points;
      if (trail.count && size(sub(place, points.subarray(3 * trail.count - 3, 3 * trail.count))) < 0.004) continue;
      if (trail.count === TRAIL_POINTS) { // forget the older half
        const half = TRAIL_POINTS >> 1;
        points.copyWithin(0, 3 * half); trail.count -= half; trail.moved = -1;
        gl.bindBuffer(gl.ARRAY_BUFFER, trail.buffer); gl.bufferSubData(gl.ARRAY_BUFFER, 0, points);
      }
      points.set(place, 3 * trail.count);
      gl.bindBuffer(gl.ARRAY_BUFFER, trail.buffer); gl.bufferSubData(gl.ARRAY_BUFFER, 12 * trail.count, Float32Array.from(place));
      trail.count += 1;
    }
  }

  write(values) { // curves over the last seconds
    if (!this.curves.length) return;
    Object.assign(this.data.time, { start: Math.max(this.t - SECONDS, 0), end: Math.max(this.t, 1) });
    this.curves.forEach((curve, k) => {
      curve.data.lines.forEach((line, i) => {
        line.t.push(this.t); line.y.push(values[k][i]);
        while (line.t.length > SAMPLES || line.t[0] < this.t - SECONDS) { line.t.shift(); line.y.shift(); }
        largest.delete(line.y);
      });
      curve.redraw(); curve.cursor(this.t);
    });
  }

  values(rows) {
    const table = this.panel.querySelector("tbody");
    if (table.rows.length !== rows.length) {
      table.replaceChildren(...rows.map(([name, words]) => {
        const row = document.createElement("tr"), head = document.createElement("th"), last = document.createElement("td");
        head.scope = "row"; head.textContent = name; last.textContent = words; last.className = "unit";
        row.append(head, ...[0, 1, 2].map(() => document.createElement("td")), last);
        return row;
      }));
    }
    rows.forEach(([, , cells], k) => cells.slice(0, 3).forEach((x, c) => { table.rows[k].cells[c + 1].textContent = x.toFixed(3).replace("-", "−"); }));
  }

  pull() { // the spring of the hand
    const ends = this.held && this.held.map((p) => this.view.project(p));
    this.line.style.visibility = ends && ends[0] && ends[1] ? "visible" : "hidden";
    if (ends && ends[0] && ends[1]) ["x1", "y1", "x2", "y2"].forEach((key, k) => this.line.setAttribute(key, ends[k >> 1][k & 1]));
  }

  seek() {}
}
