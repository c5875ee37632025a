"use strict";
// A motion in one page: a scene drawn by WebGL and curves drawn as SVG, on one time. No library, no network.
const data = JSON.parse(document.getElementById("data").textContent);
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const floats = (text) => new Float32Array(bytes(text));

// Time.
const times = floats(data.time), listeners = [];
let now = times[0], playing = false;
const slider = document.getElementById("time"), readout = document.getElementById("now");
const button = document.getElementById("play"), speed = document.getElementById("speed"), said = document.getElementById("said");
slider.min = times[0]; slider.max = times[times.length - 1]; slider.step = (slider.max - slider.min) / 2000 || 1e-6;

document.getElementById("bar").style.display = times.length > 1 ? "" : "none";
document.getElementById("stage").style.gridTemplateColumns = data.panels.length ? "" : "1fr";

function go(time) {
  now = Math.min(Math.max(time, times[0]), times[times.length - 1]);
  slider.value = now;
  readout.textContent = now.toFixed(3) + " s";
  const past = data.notes.filter((note) => note[0] <= now);
  said.textContent = past.length ? past[past.length - 1][0].toFixed(3) + " s: " + past[past.length - 1][1] : "";
  listeners.forEach((listener) => listener(now));
}
function play(on) { playing = on; button.textContent = on ? "pause" : "play"; if (on) { last = performance.now(); requestAnimationFrame(tick); } }
let last = 0;
function tick(clock) {
  if (!playing) return;
  const next = now + Math.max(0, clock - last) / 1000 * Number(speed.value);
  last = clock;
  go(next > times[times.length - 1] ? times[0] : next);
  requestAnimationFrame(tick);
}
button.onclick = () => play(!playing);
slider.oninput = () => { play(false); go(Number(slider.value)); };

// Curves.
const NS = "http://www.w3.org/2000/svg";
const W = 640, H = 150, LEFT = 58, RIGHT = 8, TOP = 8, BOTTOM = 20;
function node(name, attributes, parent) {
  const x = document.createElementNS(NS, name);
  for (const key in attributes) x.setAttribute(key, attributes[key]);
  parent.appendChild(x);
  return x;
}
function ticks(low, high, count) {
  const raw = (high - low) / count, scale = 10 ** Math.floor(Math.log10(raw));
  const step = scale * [1, 2, 5, 10].find((k) => k * scale >= 0.7 * raw), out = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) out.push(Math.abs(x) < 1e-9 * step ? 0 : x);
  return out;
}
function panel(source) {
  const t = floats(source.time), curves = source.curves.map((c) => ({ ...c, values: floats(c.values) }));
  const box = document.createElement("div"); box.className = "panel";
  box.innerHTML = "<h3></h3>"; box.firstChild.textContent = source.title + "  " + source.quantity;
  const svg = node("svg", { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: "none" }, box);
  const legend = document.createElement("div"); legend.className = "legend"; box.appendChild(legend);
  let low = Infinity, high = -Infinity;
  curves.forEach((c) => c.values.forEach((v) => { if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); } }));
  if (source.limits) [low, high] = source.limits;
  if (!(high > low)) { const mid = Number.isFinite(low) ? low : 0, off = Math.abs(mid) * 0.1 || 1; low = mid - off; high = mid + off; }
  const x = (time) => LEFT + (time - times[0]) / (times[times.length - 1] - times[0] || 1) * (W - LEFT - RIGHT);
  const y = (v) => TOP + (high - v) / (high - low) * (H - TOP - BOTTOM);
  ticks(low, high, 4).forEach((v) => {
    node("line", { x1: LEFT, x2: W - RIGHT, y1: y(v), y2: y(v), stroke: "#8883" }, svg);
    node("text", { x: LEFT - 5, y: y(v) + 4, "text-anchor": "end" }, svg).textContent = Number(v.toPrecision(5));
  });
  ticks(times[0], times[times.length - 1] > times[0] ? times[times.length - 1] : times[0] + 1, 8).forEach((v) => {
    if (x(v) < W - RIGHT - 45) node("text", { x: x(v), y: H - 5, "text-anchor": "middle" }, svg).textContent = Number(v.toPrecision(5));
  });
  node("text", { x: W - RIGHT, y: H - 5, "text-anchor": "end" }, svg).textContent = "time [s]";
  source.bars.forEach(([curve, spans], k) => spans.forEach(([from, to]) => node("rect", {
    x: x(from), width: Math.max(0.5, x(to) - x(from)), y: H - BOTTOM - 6 * (k + 1), height: 5, fill: curves[curve].colour, opacity: 0.55 }, svg)));
  const dots = curves.map((c) => {
    let d = "", pen = "M";
    for (let k = 0; k < t.length; k++) {
      if (!Number.isFinite(c.values[k])) { pen = "M"; continue; }
      d += pen + x(t[k]).toFixed(1) + " " + y(c.values[k]).toFixed(1); pen = "L";
    }
    const path = node("path", { d, fill: "none", stroke: c.colour, "stroke-width": 1.4, "stroke-dasharray": c.dash, "vector-effect": "non-scaling-stroke" }, svg);
    const dot = node("circle", { r: 3, fill: c.colour }, svg);
    const label = document.createElement("span");
    label.innerHTML = "<b></b> "; label.firstChild.textContent = "— "; label.firstChild.style.color = c.colour;
    label.appendChild(document.createTextNode(c.name));
    label.onclick = () => { const off = label.classList.toggle("off"); path.style.display = dot.style.display = off ? "none" : ""; };
    legend.appendChild(label);
    return dot;
  });
  const cursor = node("line", { y1: TOP, y2: H - BOTTOM, stroke: "#d33", class: "cursor", "vector-effect": "non-scaling-stroke" }, svg);
  listeners.push((time) => {
    cursor.setAttribute("x1", x(time)); cursor.setAttribute("x2", x(time));
    let k = 0, top = t.length - 1;
    while (k < top) { const mid = (k + top) >> 1; if (t[mid] < time) k = mid + 1; else top = mid; }
    dots.forEach((dot, i) => {
      const v = curves[i].values[k];
      dot.setAttribute("visibility", Number.isFinite(v) ? "visible" : "hidden");
      if (Number.isFinite(v)) { dot.setAttribute("cx", x(time)); dot.setAttribute("cy", y(v)); }
    });
  });
  const seek = (event) => {
    const r = svg.getBoundingClientRect(), at = (event.clientX - r.left) / r.width * W;
    play(false); go(times[0] + (at - LEFT) / (W - LEFT - RIGHT) * (times[times.length - 1] - times[0]));
  };
  svg.onpointerdown = (event) => { svg.setPointerCapture(event.pointerId); seek(event); svg.onpointermove = seek; };
  svg.onpointerup = () => { svg.onpointermove = null; };
  document.getElementById("panels").appendChild(box);
}
data.panels.forEach(panel);

// Scene: small vectors and matrices, column by column.
const add = (a, b, s) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => { const n = Math.sqrt(dot(a, a)) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
function product(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}
function placed(p, q, stretch) {  // position, quaternion x y z w, length along z
  const [x, y, z, w] = q;
  return new Float32Array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    stretch * 2 * (x * z + w * y), stretch * 2 * (y * z - w * x), stretch * (1 - 2 * (x * x + y * y)), 0, p[0], p[1], p[2], 1]);
}
const motion = floats(data.motion), nodes = data.nodes, WIDTH = 8;
function frame(time) {  // the first sample at or after a time
  let k = 0, top = times.length - 1;
  while (k < top) { const mid = (k + top) >> 1; if (times[mid] < time) k = mid + 1; else top = mid; }
  return k;
}
function pose(n, time) {  // between two samples
  const k = frame(time);
  const j = Math.max(0, k - 1), span = times[k] - times[j], s = span > 0 ? (time - times[j]) / span : 0;
  const a = motion.subarray((j * nodes + n) * WIDTH, (j * nodes + n + 1) * WIDTH), b = motion.subarray((k * nodes + n) * WIDTH, (k * nodes + n + 1) * WIDTH);
  const sign = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] < 0 ? -1 : 1;
  const mix = Array.from(a, (v, i) => v + s * ((i > 2 && i < 7 ? sign : 1) * b[i] - v));
  const n4 = Math.hypot(mix[3], mix[4], mix[5], mix[6]) || 1;
  return [mix.slice(0, 3), mix.slice(3, 7).map((v) => v / n4), mix[7]];
}
const canvas = document.getElementById("scene"), gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
window.kinpair = { go, play, pose: (name) => pose(data.names.indexOf(name), now), time: () => now, playing: () => playing,
  sticks: (joint) => { const lamp = data.pieces.find((x) => x.lamp === joint && x.sticks); return lamp ? new Uint8Array(bytes(lamp.shown))[frame(now)] === 1 : null; } };
if (!gl) {
  said.textContent = "This browser draws no WebGL2: the curves work, the animation does not.";
} else {
  const shader = (kind, text) => { const s = gl.createShader(kind); gl.shaderSource(s, text); gl.compileShader(s); return s; };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, `#version 300 es
    in vec3 place; in vec3 normal; uniform mat4 world, camera; out vec3 at, up;
    void main() { vec4 p = world * vec4(place, 1.0); at = p.xyz; up = mat3(world) * normal; gl_Position = camera * p; }`));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `#version 300 es
    precision highp float; in vec3 at, up; uniform vec3 eye, right, upwards; uniform vec4 colour; uniform float mode; out vec4 pixel;
    void main() {
      if (mode > 1.5) { pixel = colour; return; }
      vec3 n = normalize(mode > 0.5 ? cross(dFdx(at), dFdy(at)) : up), v = normalize(eye - at);
      if (dot(n, v) < 0.0) n = -n;
      vec3 a = normalize(0.35 * right + 0.75 * upwards + 0.9 * v), b = normalize(-0.8 * right + 0.1 * upwards + 0.45 * v);
      float light = 0.36 + 0.6 * max(dot(n, a), 0.0) + 0.2 * max(dot(n, b), 0.0), gloss = pow(max(dot(n, normalize(a + v)), 0.0), 24.0);
      pixel = vec4(light * colour.rgb + 0.15 * gloss, colour.a);
    }`));
  gl.linkProgram(program); gl.useProgram(program);
  const where = (name) => gl.getUniformLocation(program, name);
  const places = { world: where("world"), camera: where("camera"), eye: where("eye"), right: where("right"), upwards: where("upwards"), colour: where("colour"), mode: where("mode") };
  const buffer = (target, values) => { const b = gl.createBuffer(); gl.bindBuffer(target, b); gl.bufferData(target, values, gl.STATIC_DRAW); return b; };
  const attribute = (name, values) => {
    const k = gl.getAttribLocation(program, name);
    buffer(gl.ARRAY_BUFFER, values); gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
  };
  function normals(points, faces) {
    const out = new Float32Array(points.length);
    for (let f = 0; f < faces.length; f += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => points.subarray(3 * faces[f + k], 3 * faces[f + k] + 3));
      const n = cross(add(b, a, -1), add(c, a, -1));
      for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) out[3 * faces[f + k] + i] += n[i];
    }
    return out;
  }
  const pieces = data.pieces.map((piece) => {
    const raw = new Uint16Array(bytes(piece.points)), points = new Float32Array(raw.length);
    for (let k = 0; k < raw.length; k++) points[k] = piece.low[k % 3] + raw[k] / 65535 * piece.span[k % 3];
    const faces = piece.wide ? new Uint32Array(bytes(piece.faces)) : new Uint16Array(bytes(piece.faces));
    const vertices = gl.createVertexArray(); gl.bindVertexArray(vertices);
    attribute("place", points); attribute("normal", normals(points, faces));
    buffer(gl.ELEMENT_ARRAY_BUFFER, faces);
    return { ...piece, shown: piece.shown && new Uint8Array(bytes(piece.shown)), vertices, count: faces.length, type: piece.wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT };
  });
  const areas = data.areas.map((area) => ({
    colour: area.colour, which: new Uint16Array(bytes(area.which)), forms: area.forms.map((text) => {
      const points = floats(text), vertices = gl.createVertexArray();
      gl.bindVertexArray(vertices); attribute("place", points);
      return { vertices, count: points.length / 3 };
    }) }));
  pieces.sort((a, b) => b.colour[3] - a.colour[3]);
  const grid = gl.createVertexArray(); gl.bindVertexArray(grid);
  const lines = floats(data.grid); attribute("place", lines);
  const up = data.up, size = data.size;
  let target = data.target, towards = data.towards, distance = data.distance * Math.max(1, data.aspect * canvas.clientHeight / canvas.clientWidth);
  const identity = placed([0, 0, 0], [0, 0, 0, 1], 1);
  function draw(time) {
    const ratio = window.devicePixelRatio || 1, w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    gl.viewport(0, 0, w, h); gl.clearColor(0.97, 0.973, 0.98, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    const back = unit(towards), right = unit(cross(up, back)), upwards = cross(back, right), eye = add(target, back, distance);
    const near = 0.02 * distance, far = distance + 40 * data.reach, f = 1 / Math.tan(data.lens / 2);
    const lens = new Float32Array([f * h / w, 0, 0, 0, 0, f, 0, 0, 0, 0, -(far + near) / (far - near), -1, 0, 0, -2 * far * near / (far - near), 0]);
    const look = new Float32Array([right[0], upwards[0], back[0], 0, right[1], upwards[1], back[1], 0, right[2], upwards[2], back[2], 0,
      -dot(right, eye), -dot(upwards, eye), -dot(back, eye), 1]);
    gl.uniformMatrix4fv(places.camera, false, product(lens, look));
    gl.uniform3fv(places.eye, eye); gl.uniform3fv(places.right, right); gl.uniform3fv(places.upwards, upwards);
    gl.bindVertexArray(grid); gl.uniformMatrix4fv(places.world, false, identity);
    gl.uniform4fv(places.colour, [0.84, 0.85, 0.87, 1]); gl.uniform1f(places.mode, 2); gl.drawArrays(gl.LINES, 0, lines.length / 3);
    const world = Array.from({ length: nodes }, (_, n) => placed(...pose(n, time)));
    const k = frame(time);
    gl.uniformMatrix4fv(places.world, false, identity);
    for (const area of areas) {
      const form = area.forms[area.which[k]];
      gl.bindVertexArray(form.vertices); gl.uniform4fv(places.colour, area.colour); gl.uniform1f(places.mode, 2); gl.drawArrays(gl.TRIANGLES, 0, form.count);
    }
    for (const piece of pieces) {
      if (piece.shown && !piece.shown[k]) continue;
      gl.bindVertexArray(piece.vertices); gl.uniformMatrix4fv(places.world, false, world[piece.node]);
      gl.uniform4fv(places.colour, piece.colour); gl.uniform1f(places.mode, piece.flat ? 1 : 0);
      gl.drawElements(gl.TRIANGLES, piece.count, piece.type, 0);
    }
  }
  listeners.push(draw);
  window.addEventListener("resize", () => draw(now));
  let grip = null;
  canvas.onpointerdown = (event) => { canvas.setPointerCapture(event.pointerId); grip = [event.clientX, event.clientY, event.shiftKey || event.button === 2]; };
  canvas.onpointerup = () => { grip = null; };
  canvas.oncontextmenu = (event) => event.preventDefault();
  canvas.onpointermove = (event) => {
    if (!grip) return;
    const dx = event.clientX - grip[0], dy = event.clientY - grip[1];
    grip = [event.clientX, event.clientY, grip[2]];
    const back = unit(towards), right = unit(cross(up, back)), upwards = cross(back, right);
    if (grip[2]) {
      const s = data.lens * distance / canvas.clientHeight;
      target = add(add(target, right, -dx * s), upwards, dy * s);
    } else {
      const turned = unit(add(back, right, -dx * 0.008)), lifted = unit(add(turned, upwards, dy * 0.008));
      towards = Math.abs(dot(lifted, up)) < 0.995 ? lifted : turned;
    }
    draw(now);
  };
  canvas.onwheel = (event) => { event.preventDefault(); distance *= Math.exp(0.001 * event.deltaY); draw(now); };
}
go(times[0]);
document.body.dataset.ready = "yes";
