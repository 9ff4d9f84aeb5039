"use strict";
// Plays a recording: time, curves with a cursor, values of what was picked, keys.

class Player {
  constructor(data) {
    this.data = data;
    const byId = (id) => document.getElementById(id);
    this.view = new SceneView(byId("scene"), byId("overlay"), data);
    if (!this.view.gl) byId("failed").hidden = false;
    Object.assign(this, { slider: byId("time"), now: byId("now"), playButton: byId("play"), panel: byId("values") });
    const { time } = data;
    this.t = time.start; this.speed = time.speed; this.loop = true; this.pause = 0; this.last = 0;
    this.playing = time.end > time.start && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.slider.min = time.start; this.slider.max = time.end; this.slider.step = "any";
    this.fillSpeeds(byId("speed")); this.fillOwners(byId("owner"));
    byId("curves").hidden = !data.curves.length;
    this.curves = data.curves.map((curve) => new Curve(curve, this));
    this.events(byId);
    this.go(this.t);
    requestAnimationFrame((stamp) => this.tick(stamp));
  }

  // --- time

  timeText(t) {
    const { size, unit, digits } = this.data.time;
    return `${(t / size).toFixed(digits)} ${unit}`;
  }

  key(t) { // the key at or before a time, and the share of the way to the next one
    const times = this.data.times, n = times.length;
    if (n < 2) return [0, 0, 0];
    const width = (times[n - 1] - times[0]) / (n - 1); // equal steps
    const k = Math.max(0, Math.min(n - 2, Math.floor((t - times[0]) / width + 1e-9)));
    return [k, k + 1, Math.max(0, Math.min(1, (t - times[k]) / width))];
  }

  go(t) {
    const { data, view } = this, { time } = data;
    this.t = Math.max(time.start, Math.min(time.end, t));
    const [i, j, s] = this.key(this.t), rows = data.rows;
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < 3; c++) {
        view.place[3 * r + c] = (1 - s) * data.places[3 * (i * rows + r) + c] + s * data.places[3 * (j * rows + r) + c];
      }
      let sum = 0;
      for (let c = 0; c < 4; c++) { // signs of neighbours agree
        const x = (1 - s) * data.turns[4 * (i * rows + r) + c] + s * data.turns[4 * (j * rows + r) + c];
        view.turn[4 * r + c] = x; sum += x * x;
      }
      sum = Math.sqrt(sum) || 1;
      for (let c = 0; c < 4; c++) view.turn[4 * r + c] /= sum;
    }
    for (const link of view.links || []) {
      for (let c = 0; c < 6; c++) link.live[c] = (1 - s) * link.ends[6 * i + c] + s * link.ends[6 * j + c];
    }
    for (const trail of view.trails || []) {
      let low = 0, high = trail.times.length;
      while (low < high) { const mid = (low + high) >> 1; if (trail.times[mid] <= this.t) low = mid + 1; else high = mid; }
      trail.count = low;
    }
    view.move();
    if (data.shade) this.shade(i, j, s);
    this.slider.value = this.t;
    this.now.textContent = this.timeText(this.t);
    this.slider.setAttribute("aria-valuetext", this.timeText(this.t));
    for (const curve of this.curves || []) curve.cursor(this.t);
    this.describe();
  }

  tick(stamp) {
    const passed = Math.min((stamp - this.last) / 1000, 0.1);
    this.last = stamp;
    if (this.playing) {
      if (this.t >= this.data.time.end) {
        this.pause += passed; // the last picture stays for a moment before the loop starts again
        if (!this.loop) this.play(false);
        else if (this.pause > 0.4) { this.pause = 0; this.go(this.data.time.start); }
      } else this.go(this.t + passed * this.speed);
    }
    this.view.draw();
    requestAnimationFrame((next) => this.tick(next));
  }

  play(on) {
    if (on && this.t >= this.data.time.end) this.go(this.data.time.start);
    this.playing = on;
    this.playButton.setAttribute("aria-label", on ? "pause" : "play");
    this.playButton.title = on ? "pause (space)" : "play (space)";
    this.playButton.firstElementChild.firstElementChild.setAttribute("d", on ? "M2 1h4v14H2zM10 1h4v14h-4z" : "M2 1l12 7-12 7z");
  }

  seek(t) { this.play(false); this.go(t); this.view.draw(); }

  step(count) { const { start, end } = this.data.time; this.seek(this.t + count * (end - start) / Math.max(1, Math.min(300, this.data.times.length - 1))); }

  // --- colours by quantity

  shade(i, j, s) {
    const { rows, values } = this.data.shade, map = this.data.shade.map, n = rows.length, colours = new Map();
    for (let k = 0; k < n; k++) {
      const a = values[i * n + k], b = values[j * n + k];
      if (a === 255 || b === 255) { colours.set(rows[k], [0.62, 0.62, 0.62]); continue; }
      const x = ((1 - s) * a + s * b) / 254 * (map.length - 1), m = Math.min(Math.floor(x), map.length - 2);
      colours.set(rows[k], [0, 1, 2].map((c) => map[m][c] + (x - m) * (map[m + 1][c] - map[m][c])));
    }
    this.view.paint(colours);
  }

  // --- picking

  choose(owner) {
    this.view.chosen = owner;
    document.getElementById("owner").value = owner === null ? "" : owner;
    if (!this.data.shade) this.view.paint(null);
    this.panel.hidden = owner === null;
    if (owner !== null) {
      const { name, facts } = this.data.owners[owner];
      this.panel.querySelector("h2").textContent = name;
      this.panel.querySelector("p").textContent = facts;
      this.shown = null;
    }
    this.go(this.t);
  }

  describe() {
    const owner = this.view.chosen;
    if (owner === null || !this.data.owners[owner]) return;
    const { values } = this.data.owners[owner], table = this.panel.querySelector("tbody");
    const rows = values.map(({ name, unit: words, width, samples }) => {
      const n = samples.length / width, { start, end } = this.data.time;
      const x = end > start ? (this.t - start) / (end - start) * (n - 1) : 0;
      const k = Math.max(0, Math.min(n - 2, Math.floor(x))), s = n > 1 ? x - k : 0;
      const cells = Array.from({ length: width }, (_, c) => {
        const a = samples[k * width + c], b = n > 1 ? samples[(k + 1) * width + c] : a;
        return steady((1 - s) * a + s * b, samples);
      });
      return { name, words, cells };
    });
    if (this.shown !== owner) {
      this.shown = owner;
      table.replaceChildren(...rows.map(({ name, words, cells }) => {
        const row = document.createElement("tr"), head = document.createElement("th"), last = document.createElement("td");
        head.scope = "row"; head.textContent = name; last.textContent = words; last.className = "unit";
        const width = Math.max(3, cells.length); // units stand below each other
        row.append(head, ...Array.from({ length: width }, () => document.createElement("td")), last);
        return row;
      }));
    }
    rows.forEach(({ cells }, k) => cells.forEach((text, c) => { table.rows[k].cells[c + 1].textContent = text; }));
  }

  fillOwners(select) {
    this.data.owners.forEach(({ name, run }, k) => {
      const label = this.data.runs.length > 1 ? `${name} (${this.data.runs[run].name})` : name;
      select.append(new Option(label, k));
    });
    select.addEventListener("change", () => this.choose(select.value === "" ? null : Number(select.value)));
  }

  fillSpeeds(select) {
    const factors = [0.1, 0.25, 0.5, 1, 2, 4, 10];
    for (const f of factors) select.append(new Option(`× ${number(f * this.data.time.speed).replace(/\.?0+(?=e)/, "")}`, f));
    select.value = 1;
    select.addEventListener("change", () => { this.speed = Number(select.value) * this.data.time.speed; });
    this.faster = (way) => {
      const k = Math.max(0, Math.min(factors.length - 1, factors.indexOf(Number(select.value)) + way));
      select.value = factors[k]; this.speed = factors[k] * this.data.time.speed;
    };
  }

  // --- events

  events(byId) {
    const flip = (role) => { this.view.hidden[role] = !this.view.hidden[role]; this.view.dirty = true; };
    const help = () => { const box = byId("keys"); box.hidden = !box.hidden; byId("help").setAttribute("aria-expanded", !box.hidden); };
    const loop = () => { this.loop = !this.loop; byId("loop").setAttribute("aria-pressed", this.loop); };
    this.playButton.addEventListener("click", () => this.play(!this.playing));
    byId("loop").addEventListener("click", loop); byId("help").addEventListener("click", help);
    byId("home").addEventListener("click", () => this.view.home());
    byId("close").addEventListener("click", () => { this.choose(null); byId("scene").focus(); });
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
    new ResizeObserver(() => { if (!this.view.touched) this.view.home(); this.view.dirty = true; }).observe(byId("stage"));
    attachCamera(this.view, (x, y) => { const hit = this.view.pick(x, y); this.choose(hit && this.data.owners[hit.owner] ? hit.owner : null); });
    const { start, end } = this.data.time;
    const keys = {
      " ": () => this.play(!this.playing), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      Home: () => this.seek(start), End: () => this.seek(end), ArrowUp: () => this.faster(1), ArrowDown: () => this.faster(-1),
      l: loop, c: () => this.view.home(), t: () => flip("trail"), j: () => flip("joint"), r: () => flip("reaction"),
      f: () => flip("frame"), n: () => flip("label"), h: help, Escape: () => this.choose(null),
    };
    addEventListener("keydown", (event) => {
      const own = event.target.tagName === "SELECT" || (event.target.tagName === "BUTTON" && event.key === " ");
      if (own || event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
      keys[event.key](); event.preventDefault();
    });
    this.play(this.playing);
  }
}

// Numbers with a few digits and a fixed look
const number = (x) => {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return x.toExponential(3).replace("-", "−").replace("e+", "e");
  return x.toFixed(size >= 100 ? 2 : size >= 10 ? 3 : 4).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace("-", "−");
};

const largest = new WeakMap();
// As many digits as the largest of some numbers needs, so that texts do not jump
const steady = (x, all) => {
  if (!largest.has(all)) largest.set(all, all.reduce((m, v) => Math.max(m, Math.abs(v) || 0), 0));
  const size = largest.get(all);
  if (!Number.isFinite(x) || (size !== 0 && (size < 1e-3 || size >= 1e5))) return Number.isFinite(x) ? x.toExponential(3).replace("-", "−") : "–";
  return x.toFixed(size ? Math.max(0, Math.min(5, 3 - Math.floor(Math.log10(size)))) : 0).replace("-", "−");
};

// One diagram under the scene; its lines are drawn once, the cursor for every picture
class Curve {
  constructor(data, player) {
    this.data = data; this.player = player;
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const title = document.createElement("b");
    title.textContent = data.unit ? `${data.title} in ${data.unit}` : data.title;
    caption.append(title);
    this.keys = data.lines.map((line) => {
      const key = document.createElement("span"), mark = document.createElement("i"), words = document.createElement("span");
      key.className = "key"; mark.style.borderTopColor = line.colour; mark.style.borderTopStyle = line.dashed ? "dashed" : "solid";
      words.textContent = line.label; key.append(mark, words); caption.append(key);
      return words;
    });
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${title.textContent} over time: ${data.lines.map((l) => `${l.label || "value"} from ${number(Math.min(...l.y))} to ${number(Math.max(...l.y))}`).join(", ")}`);
    figure.append(caption, this.canvas);
    document.getElementById("curves").append(figure);
    const seek = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const box = this.canvas.getBoundingClientRect(), { start, end } = player.data.time;
      const share = (event.clientX - box.left - this.left) / (box.width - this.left - 8);
      player.seek(start + Math.max(0, Math.min(1, share)) * (end - start));
    };
    this.canvas.addEventListener("pointerdown", seek); this.canvas.addEventListener("pointermove", seek);
    new ResizeObserver(() => { this.redraw(); this.cursor(player.t); }).observe(this.canvas);
  }

  redraw() {
    const ratio = Math.min(devicePixelRatio || 1, 2), width = this.canvas.clientWidth || 300, height = this.canvas.clientHeight || 118;
    this.canvas.width = ratio * width; this.canvas.height = ratio * height;
    const back = this.back = document.createElement("canvas");
    back.width = this.canvas.width; back.height = this.canvas.height;
    const pen = back.getContext("2d"), style = getComputedStyle(document.documentElement);
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    let low = Infinity, high = -Infinity;
    for (const { y } of this.data.lines) for (const v of y) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (!(high > low)) { const c = Number.isFinite(low) ? low : 0, w = Math.abs(c) * 0.1 || 1; low = c - w; high = c + w; }
    if (high - low < 1e-9 * Math.max(Math.abs(low), Math.abs(high))) { const c = 0.5 * (low + high), w = Math.abs(c) * 0.1; low = c - w; high = c + w; }
    const gap = 0.06 * (high - low); low -= gap; high += gap;
    const nice = (span) => { const p = 10 ** Math.floor(Math.log10(span)); return [1, 2, 5, 10].find((f) => f * p >= span) * p; };
    const step = nice((high - low) / 3.5), ticks = [];
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) ticks.push(Math.abs(v) < 1e-9 * step ? 0 : v);
    const words = ticks.map((v) => number(Number(v.toPrecision(6))));
    this.left = 8 + Math.max(...words.map((w) => pen.measureText(w).width));
    const { start, end } = this.player.data.time, { size, unit: name } = this.player.data.time, bottom = height - 17;
    this.x = (t) => this.left + (t - start) / ((end - start) || 1) * (width - this.left - 8);
    this.y = (v) => 4 + (high - v) / (high - low) * (bottom - 8);
    pen.strokeStyle = style.getPropertyValue("--line"); pen.fillStyle = style.getPropertyValue("--muted"); pen.lineWidth = 1;
    pen.textAlign = "right"; pen.textBaseline = "middle";
    ticks.forEach((v, k) => {
      const y = Math.round(this.y(v)) + 0.5;
      pen.beginPath(); pen.moveTo(this.left, y); pen.lineTo(width - 8, y); pen.stroke(); pen.fillText(words[k], this.left - 4, y);
    });
    const span = nice((end - start) / size / (width > 500 ? 7 : 4)) || 1;
    pen.textBaseline = "top"; pen.textAlign = "center";
    for (let v = Math.ceil(start / size / span) * span; v <= end / size * (1 + 1e-9); v += span) {
      const x = Math.round(this.x(v * size)) + 0.5, last = v + span > end / size * (1 + 1e-9);
      pen.beginPath(); pen.moveTo(x, 4); pen.lineTo(x, bottom); pen.stroke();
      const text = number(Number(v.toPrecision(6))) + (last ? ` ${name}` : ""), half = 0.5 * pen.measureText(text).width;
      pen.fillText(text, Math.min(x, width - half - 1), bottom + 3);
    }
    pen.lineJoin = "round";
    for (const line of this.data.lines) {
      pen.strokeStyle = line.colour; pen.lineWidth = 1.7; pen.setLineDash(line.dashed ? [6, 4] : []);
      pen.beginPath();
      line.y.forEach((v, k) => pen.lineTo(this.x(line.t[k]), this.y(v)));
      pen.stroke();
    }
  }

  cursor(t) {
    if (!this.back) return; // not laid out yet
    const pen = this.canvas.getContext("2d"), ratio = this.canvas.width / (this.canvas.clientWidth || 300);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.back, 0, 0);
    pen.scale(ratio, ratio);
    pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--text"); pen.lineWidth = 1.3;
    pen.beginPath(); pen.moveTo(this.x(t), 2); pen.lineTo(this.x(t), this.canvas.clientHeight - 15); pen.stroke();
    this.data.lines.forEach((line, k) => {
      const value = valueAt(line, t);
      if (Number.isFinite(value)) {
        pen.fillStyle = line.colour; pen.beginPath(); pen.arc(this.x(t), this.y(value), 3.2, 0, 7); pen.fill();
      }
      this.keys[k].textContent = `${line.label}${line.label ? " " : ""}${steady(value, line.y)}`;
    });
  }
}

const valueAt = ({ t: times, y }, t) => { // linear between samples, held at the ends
  let low = 0, high = times.length - 1;
  if (t <= times[0]) return y[0];
  if (t >= times[high]) return y[high];
  while (high - low > 1) { const mid = (low + high) >> 1; if (times[mid] <= t) low = mid; else high = mid; }
  const width = times[high] - times[low];
  return width > 0 ? y[low] + (t - times[low]) / width * (y[high] - y[low]) : y[high];
};
