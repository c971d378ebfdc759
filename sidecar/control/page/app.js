// The page of the daemon. It reads one stream, /v1/stats/stream, and writes
// text with textContent only: stream ids and peers come from the network.
"use strict";

const $ = id => document.getElementById(id);
const chartLength = 300; // samples, one a second
const sparkLength = 60;
const maxRows = 200;
const maxEvents = 200;

// ---- small tools

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
function tone(node, value) {
  if (node.dataset.tone !== value) node.dataset.tone = value;
}
function make(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}
function copyOf(id) {
  return $(id).content.firstElementChild.cloneNode(true);
}
function fixed(v, digits) {
  return Number.isFinite(v) ? v.toFixed(digits) : "–";
}
function rate(mbps) {
  return mbps >= 100 ? fixed(mbps, 0) : mbps >= 10 ? fixed(mbps, 1) : fixed(mbps, 2);
}
function count(n) {
  return n >= 1e9 ? fixed(n / 1e9, 1) + " G" : n >= 1e6 ? fixed(n / 1e6, 1) + " M" : n >= 1e4 ? fixed(n / 1e3, 1) + " k" : String(n);
}
function size(n) {
  return n >= 1e9 ? fixed(n / 1e9, 2) + " GB" : n >= 1e6 ? fixed(n / 1e6, 1) + " MB" : fixed(n / 1e3, 1) + " kB";
}
function age(s) {
  if (s < 60) return Math.floor(s) + " s";
  if (s < 3600) return Math.floor(s / 60) + " min";
  if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";
  return Math.floor(s / 86400) + " d " + Math.floor(s % 86400 / 3600) + " h";
}
// keyed keeps one node a key, in the order of the keys, and makes and removes
// only what came and went, so that focus and what is open stay.
function keyed(parent, nodes, keys, build) {
  const wanted = new Set(keys);
  for (const [key, node] of nodes) {
    if (!wanted.has(key)) { node.remove(); nodes.delete(key); }
  }
  let at = parent.firstElementChild;
  for (const key of keys) {
    let node = nodes.get(key);
    if (!node) { node = build(key); nodes.set(key, node); }
    if (node === at) at = at.nextElementSibling;
    else parent.insertBefore(node, at);
  }
}

// ---- talking to the server

async function api(method, path, body) {
  const init = { method, headers: {} };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const answer = await fetch(path, init);
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  let text = answer.status + " " + answer.statusText;
  try { text = (await answer.json()).detail || text; } catch { /* not a problem of ours */ }
  const err = new Error(text);
  err.status = answer.status;
  throw err;
}

let toastTimer = 0;
function toast(text, bad) {
  const t = $("toast");
  t.textContent = text;
  t.hidden = false;
  t.dataset.tone = bad ? "bad" : "";
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { t.hidden = true; }, bad ? 9000 : 4000);
}

async function attempt(work, done) {
  try {
    await work();
    if (done) toast(done);
  } catch (err) {
    toast(err.message, true);
    if (err.status === 401) wantLogin();
  }
}

// ask resolves to true if the person confirms.
function ask(title, text, yes) {
  const box = $("ask");
  set($("ask-title"), title);
  set($("ask-text"), text);
  set($("ask-yes"), yes);
  return new Promise(resolve => {
    const end = answer => { box.close(); resolve(answer); };
    $("ask-yes").onclick = () => end(true);
    $("ask-no").onclick = () => end(false);
    box.oncancel = () => resolve(false);
    box.showModal();
  });
}

// ---- the stream

let source = null;
let lastEvent = 0;
let started = "";
let lastStats = 0;

function open() {
  if (source) source.close();
  source = new EventSource("/v1/stats/stream?events=" + lastEvent);
  source.addEventListener("stats", e => show(JSON.parse(e.data)));
  source.addEventListener("event", e => addEvent(JSON.parse(e.data)));
  source.onopen = () => linkState("live", "good");
  source.onerror = async () => {
    linkState("no connection, trying again", "bad");
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again
    try {
      await api("GET", "/v1/status");
    } catch (err) {
      if (err.status === 401) { wantLogin(); return; }
    }
    setTimeout(open, 2000);
  };
}
function linkState(text, how) {
  set($("link"), text);
  tone($("link"), how);
}
function wantLogin() {
  if (source) source.close();
  source = null;
  linkState("logged out", "wait");
  $("main").hidden = true;
  $("login").hidden = false;
  $("token").focus();
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    if (source) source.close();
  } else if ($("login").hidden) {
    open();
  }
});
setInterval(() => {
  if (source && !document.hidden && lastStats && Date.now() - lastStats > 5000) linkState("no news for " + age((Date.now() - lastStats) / 1000), "warn");
}, 1000);

// ---- everything, once a second

let now = null;
function show(live) {
  if (started && live.status.started !== started) { // another process: its events begin again
    started = live.status.started;
    lastEvent = 0;
    $("events").replaceChildren();
    open();
    return;
  }
  started = live.status.started;
  now = live;
  lastStats = Date.now();
  linkState("live", "good");
  $("login").hidden = true;
  $("main").hidden = false;
  showDaemon(live);
  showTiles(live);
  showRoutes(live.routes);
  charts.feed(live);
  showConnections();
  showListeners(live.listeners);
}

function showDaemon(live) {
  const s = live.status;
  set($("about"), [s.version.replace(/^weirline /, ""), "up " + age((Date.parse(live.time) - Date.parse(s.started)) / 1000), size(s.heapBytes) + " heap", s.threads + " threads"].join(" · "));
  $("reload").hidden = !s.configFile;
  const level = $("level");
  level.disabled = false;
  if (document.activeElement !== level) level.value = live.logLevel;
  $("fault").hidden = !s.configError;
  set($("fault"), s.configError ? "The configuration file was refused, the one before it is running: " + s.configError : "");
}

function tile(id, value, unit) {
  const node = $(id);
  if (node.dataset.value === value) return;
  node.dataset.value = value;
  node.replaceChildren(value, make("small", unit ? " " + unit : ""));
}
function showTiles(live) {
  const up = live.routes.filter(r => r.source.state === "up").length;
  tile("t-routes", String(up), "of " + live.routes.length);
  tile("t-conns", String(live.connections.length));
  const sum = d => live.connections.reduce((n, c) => n + (c.direction === d && c.srt ? c.srt.mbps : 0), 0);
  tile("t-in", rate(sum("receive")), "Mbit/s");
  tile("t-out", rate(sum("send")), "Mbit/s");
  const loss = Math.max(0, ...live.connections.map(c => c.srt ? c.srt.lossPercent : 0));
  tile("t-loss", fixed(loss, 2), "%");
}

// ---- routes

const routeNodes = new Map();
const stateTone = { up: "good", connecting: "wait", waiting: "wait", idle: "", "back-off": "warn", failed: "bad", done: "" };

function showRoutes(routes) {
  $("no-routes").hidden = routes.length > 0;
  keyed($("route-list"), routeNodes, routes.map(r => r.name || ""), name => {
    const node = copyOf("route-form");
    node.dataset.route = name;
    node.ends = new Map();
    node.rates = [];
    const button = node.querySelector(".remove");
    button.setAttribute("aria-label", "Remove route " + name);
    button.onclick = () => removeRoute(name);
    return node;
  });
  for (const r of routes) showRoute(routeNodes.get(r.name || ""), r);
}

function showRoute(node, r) {
  set(node.querySelector("h3"), r.name || "unnamed");
  node.querySelector(".tag").hidden = !r.dynamic;
  set(node.querySelector(".rate"), rate(r.mbps) + " Mbit/s");
  node.rates.push(r.mbps);
  if (node.rates.length > sparkLength) node.rates.shift();
  draw(node.querySelector(".spark"), node.rates, sparkLength, false);
  const ends = [["source", "source", r.source]];
  (r.spares || []).forEach((e, i) => ends.push(["spare" + i, "spare", e]));
  r.outputs.forEach((e, i) => ends.push(["out" + (e.id || i), "output", e]));
  keyed(node.querySelector(".ends"), node.ends, ends.map(e => e[0]), () => copyOf("end-form"));
  for (const [key, way, e] of ends) showEnd(node.ends.get(key), way, e, r.name);
  showHealth(node.querySelector(".health"), r);
}

function showEnd(node, way, e, name) {
  set(node.querySelector(".way"), way);
  const state = node.querySelector(".state");
  set(state, e.state);
  tone(state, stateTone[e.state] || "");
  set(node.querySelector(".url"), e.url);
  const more = [];
  if (way === "output") {
    const n = now.connections.filter(c => c.route === name && c.output === e.id).length;
    if (n > 1) more.push(n + " connections");
    if (e.queue.queued > 0) more.push(count(e.queue.queued) + " queued");
    if (e.queue.dropped > 0) more.push(count(e.queue.dropped) + " dropped");
  }
  if (e.lastError && e.state !== "up") more.push(e.lastError);
  if (e.failures > 0 && e.state !== "up") more.push(e.failures + (e.failures === 1 ? " failure" : " failures"));
  set(node.querySelector(".more"), more.join(" · "));
}

// showHealth says what passes and, if something is wrong with it, what.
function showHealth(node, r) {
  const facts = [["received", size(r.media.bytes)]];
  if (r.health && r.media.bytes > 0) facts.push(...healthFacts(r.health));
  if (r.media.unheard > 0) facts.push(["unheard", count(r.media.unheard) + " messages"]);
  const text = JSON.stringify(facts);
  if (node.dataset.shown === text) return;
  node.dataset.shown = text;
  node.replaceChildren(...facts.map(([key, value, bad]) => {
    const s = make("span", key + " ", bad ? "bad" : "");
    s.append(make("b", value));
    return s;
  }));
}
const healthErrors = [
  ["continuityErrors", "continuity errors"], ["syncLosses", "sync losses"], ["strayBytes", "stray bytes"], ["transportErrors", "marked as damaged"],
  ["tableErrors", "table errors"], ["clockErrors", "clock errors"],
];
function healthFacts(h) {
  const facts = [];
  if (h.format) facts.push(["format", h.format]);
  if (h.nullShare > 0) facts.push(["stuffing", fixed(h.nullShare * 100, 1) + " %"]);
  if (h.pcrJitterMs > 0) facts.push(["PCR jitter", fixed(h.pcrJitterMs, 2) + " ms"]);
  const wrong = healthErrors.filter(([key]) => h[key] > 0).map(([key, words]) => [words, count(h[key]), true]);
  if (h.patPresent === false) wrong.push(["PAT", "missing", true]);
  else if (h.pmtPresent === false) wrong.push(["PMT", "missing", true]);
  if (!wrong.length) wrong.push(["errors", "none"]);
  return facts.concat(wrong);
}

async function removeRoute(name) {
  const n = now.connections.filter(c => c.route === name).length;
  const text = (n ? n + (n === 1 ? " connection ends" : " connections end") + " with it. " : "") + "A route of the configuration file comes back with the next reload.";
  if (await ask("Remove the route " + name + "?", text, "Remove")) {
    attempt(() => api("DELETE", "/v1/routes/" + encodeURIComponent(name)), "Route " + name + " removed");
  }
}

// ---- connections

const rowNodes = new Map();
const opened = new Set();
let sortKey = "";
let sortDown = false;

const srt = (c, key) => c.srt ? c.srt[key] : -1;
const columns = {
  route: c => c.route, peer: where, stream: c => c.streamId || "", age: c => c.uptimeSeconds,
  mbps: c => srt(c, "mbps"), rtt: c => srt(c, "rttMs"), loss: c => srt(c, "lossPercent"), retrans: c => srt(c, "retransPerSec"),
  dropped: c => dropped(c), buffer: c => srt(c, "bufferMs"),
};
function dropped(c) {
  return (c.srt ? c.srt.dropped : 0) + c.queue.dropped;
}
// where is whom or what the connection is with: a file or a socket has no peer.
function where(c) {
  return c.peer || c.url;
}
function keyOf(c) {
  return c.id || [c.route, c.direction, c.output, where(c)].join("|");
}

function pick(all) {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  let list = all.filter(c => {
    const text = [c.route, where(c), c.streamId, c.user, c.direction].join(" ").toLowerCase();
    return words.every(w => text.includes(w));
  });
  if (sortKey) {
    const value = columns[sortKey];
    list = list.slice().sort((a, b) => {
      const x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (sortDown ? -1 : 1);
    });
  }
  return list;
}

function showConnections() {
  const list = pick(now.connections);
  const shown = list.slice(0, maxRows);
  const keys = [];
  const byKey = new Map();
  for (const c of shown) {
    const key = keyOf(c);
    byKey.set(key, c);
    keys.push("row " + key);
    if (opened.has(key)) keys.push("detail " + key);
  }
  keyed($("rows"), rowNodes, keys, key => key.startsWith("row ") ? buildRow(key.slice(4)) : buildDetail(key.slice(7)));
  for (const [key, c] of byKey) {
    showRow(rowNodes.get("row " + key), c);
    if (opened.has(key)) showDetail(rowNodes.get("detail " + key), c);
  }
  const note = $("no-rows");
  note.hidden = shown.length > 0 && list.length <= maxRows;
  set(note, list.length > maxRows ? `${maxRows} of ${list.length} are shown: use the filter.` :
    now.connections.length ? "No connection matches the filter." : "No connections.");
}

function buildRow(key) {
  const node = copyOf("row-form");
  node.dataset.id = key;
  const button = node.querySelector(".open");
  button.onclick = () => {
    opened.has(key) ? opened.delete(key) : opened.add(key);
    showConnections();
  };
  node.querySelector(".kick").onclick = () => kick(node.connection);
  return node;
}

function hot(node, value, warm, bad) {
  node.classList.toggle("hot", value >= warm && value < bad);
  node.classList.toggle("very-hot", value >= bad);
}

function showRow(node, c) {
  node.connection = c;
  const cell = name => node.querySelector(".c-" + name);
  const arrow = node.querySelector(".arrow");
  const receive = c.direction === "receive";
  set(arrow, receive ? "↓" : "↑");
  arrow.title = receive ? "received" : "sent";
  arrow.setAttribute("aria-label", arrow.title);
  arrow.setAttribute("role", "img");
  set(cell("route"), c.route);
  const button = node.querySelector(".open");
  set(button, where(c));
  button.title = c.url;
  button.setAttribute("aria-expanded", String(opened.has(keyOf(c))));
  set(cell("peer").querySelector("small"), c.user || "");
  set(cell("stream"), c.streamId || "");
  cell("stream").title = c.streamId || "";
  set(cell("age"), age(c.uptimeSeconds));
  set(cell("dropped"), count(dropped(c)));
  hot(cell("dropped"), dropped(c), 1, Infinity);
  const kick = node.querySelector(".kick");
  kick.hidden = !c.id;
  kick.setAttribute("aria-label", "Kick " + where(c));
  node.classList.toggle("local", !c.srt);
  showSRT(cell, c.srt);
}

function showSRT(cell, s) {
  set(cell("mbps"), s ? rate(s.mbps) : "–");
  set(cell("rtt"), s ? fixed(s.rttMs, 1) : "–");
  set(cell("loss"), s ? fixed(s.lossPercent, 2) : "–");
  hot(cell("loss"), s ? s.lossPercent : 0, 1, 5);
  set(cell("retrans"), s ? fixed(s.retransPerSec, 0) : "–");
  const meter = cell("buffer").querySelector("meter");
  meter.hidden = !s;
  if (s) {
    meter.max = Math.max(1, s.latencyMs);
    meter.value = s.bufferMs;
  }
  const text = s ? s.bufferMs + " of " + s.latencyMs + " ms" : "–";
  set(cell("buffer").querySelector("span"), text);
  meter.setAttribute("aria-label", text);
}

async function kick(c) {
  const who = where(c);
  const text = (c.streamId ? "Stream id " + c.streamId + ". " : "") + "Its connection ends now. " + (c.peer ? "It may call again." : "The daemon opens it again.");
  if (await ask("Kick " + who + "?", text, "Kick")) {
    attempt(() => api("DELETE", "/v1/connections/" + encodeURIComponent(c.id)), who + " was kicked");
  }
}

$("filter").oninput = () => { if (now) showConnections(); };
for (const button of document.querySelectorAll("[data-sort]")) {
  button.onclick = () => {
    const key = button.dataset.sort;
    const numbers = !["route", "peer", "stream"].includes(key);
    if (sortKey === key && sortDown === numbers) sortDown = !sortDown;
    else if (sortKey === key) sortKey = "";
    else { sortKey = key; sortDown = numbers; }
    for (const th of document.querySelectorAll("th")) th.removeAttribute("aria-sort");
    if (sortKey) button.parentElement.setAttribute("aria-sort", sortDown ? "descending" : "ascending");
    if (now) showConnections();
  };
}

// ---- charts of an opened connection

const chartKinds = [
  ["mbps", "Bitrate, Mbit/s", v => rate(v)],
  ["rttMs", "Round trip, ms", v => fixed(v, 1)],
  ["lossPercent", "Loss, %", v => fixed(v, 2)],
  ["retransPerSec", "Resent, packets/s", v => fixed(v, 0)],
  ["bufferMs", "Buffer, ms", v => fixed(v, 0)],
];

const charts = {
  past: new Map(), // by key: kind -> values
  async load(key) {
    if (this.past.has(key)) return; // its rows were only out of sight
    const empty = Object.fromEntries(chartKinds.map(([kind]) => [kind, []]));
    this.past.set(key, empty);
    try {
      const h = await api("GET", "/v1/connections/" + encodeURIComponent(key) + "/history");
      for (const [kind] of chartKinds) empty[kind] = h[kind].concat(empty[kind]).slice(-chartLength);
      if (now) showConnections();
    } catch { /* its past is not kept: the chart begins now */ }
  },
  feed(live) {
    for (const key of this.past.keys()) {
      const c = live.connections.find(c => keyOf(c) === key);
      if (!c) { this.past.delete(key); opened.delete(key); continue; }
      if (!c.srt) continue;
      for (const [kind] of chartKinds) {
        const values = this.past.get(key)[kind];
        values.push(c.srt[kind]);
        if (values.length > chartLength) values.shift();
      }
    }
  },
};

function buildDetail(key) {
  const node = copyOf("detail-form");
  node.figures = new Map();
  for (const [kind, title] of chartKinds) {
    const figure = copyOf("chart-form");
    set(figure.querySelector("span"), title);
    node.figures.set(kind, figure);
    const canvas = figure.querySelector("canvas");
    canvas.onpointermove = e => { canvas.at = e.offsetX / canvas.clientWidth; showDetail(node, node.connection); };
    canvas.onpointerleave = () => { canvas.at = undefined; showDetail(node, node.connection); };
  }
  node.querySelector(".charts").append(...node.figures.values());
  if (now.connections.some(c => keyOf(c) === key && c.srt)) charts.load(key);
  return node;
}

function showDetail(node, c) {
  node.connection = c;
  node.querySelector(".charts").hidden = !c.srt;
  const past = charts.past.get(keyOf(c));
  for (const [kind, title, format] of chartKinds) {
    const figure = node.figures.get(kind);
    const canvas = figure.querySelector("canvas");
    const values = past ? past[kind] : [];
    const top = Math.max(0, ...values);
    let value = values.at(-1), when = "";
    if (canvas.at !== undefined) {
      const back = Math.round((1 - canvas.at) * (span(values.length) - 1));
      value = values[values.length - 1 - back];
      when = " " + age(back) + " ago";
    }
    set(figure.querySelector("output"), value === undefined ? "–" : format(value) + when);
    canvas.setAttribute("aria-label", `${title}: now ${values.length ? format(values.at(-1)) : "nothing"}, at most ${format(top)} in the last five minutes`);
    draw(canvas, values, span(values.length), true, format);
  }
  showFacts(node.querySelector(".facts"), c);
}

function showFacts(node, c) {
  const facts = [["Direction", c.direction === "receive" ? "received by the source" : "sent by output " + (c.output || "")], ["Address", c.url]];
  if (c.srt) facts.push(["Stream id", c.streamId || "none"]);
  if (c.user) facts.push(["User", c.user]);
  if (c.srt) {
    const s = c.srt;
    facts.push(["Packets", count(s.packets)], ["Payload", size(s.bytes)], ["Lost on the way", count(s.lost)], ["Resent", count(s.retransmitted)],
      ["Dropped", count(s.dropped)], ["Not decrypted", count(s.undecrypted)], ["Path", rate(s.bandwidthMbps) + " Mbit/s"],
      ["Encryption", s.pbKeyLen ? "AES-" + s.pbKeyLen * 8 : "none"], ["Peer", s.peerVersion ? "SRT " + s.peerVersion : "unknown"]);
  }
  if (c.direction === "send") facts.push(["Queue", count(c.queue.queued) + " messages"], ["Dropped by the queue", count(c.queue.dropped)]);
  const text = JSON.stringify(facts);
  if (node.dataset.shown === text) return;
  node.dataset.shown = text;
  node.replaceChildren(...facts.map(([key, value]) => {
    const row = make("div");
    row.append(make("dt", key), make("dd", value));
    return row;
  }));
  if (c.id && c.srt) node.append(traceLinks(c.id));
}

function traceLinks(id) {
  const row = make("div");
  const links = make("dd");
  for (const [format, text] of [["text", "explanation"], ["pcapng", "pcapng"]]) {
    const a = make("a", text);
    a.href = "/v1/connections/" + encodeURIComponent(id) + "/trace?format=" + format;
    if (links.childNodes.length) links.append(" · ");
    links.append(a);
  }
  row.append(make("dt", "Flight recorder"), links);
  return row;
}

// span is the width of a chart: a minute at first, and more as there is more.
function span(n) {
  return n <= 60 ? 60 : n <= 120 ? 120 : chartLength;
}

// draw paints values, the newest at the right edge, on a canvas that is length
// samples wide.
function draw(canvas, values, length, axis, format) {
  const ratio = window.devicePixelRatio || 1;
  const w = canvas.clientWidth, h = canvas.clientHeight;
  if (!w || !h) return;
  if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
  if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
  const g = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const color = name => style.getPropertyValue(name);
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  const foot = axis ? 14 : 1, head = axis ? 12 : 2;
  const top = nice(Math.max(...values, 1e-9));
  const x = i => w - (values.length - 1 - i) * w / (length - 1);
  const y = v => h - foot - v / top * (h - foot - head);
  if (axis) drawAxis(g, w, h, foot, head, top, color, format, length);
  if (!values.length) return;
  g.beginPath();
  values.forEach((v, i) => i ? g.lineTo(x(i), y(v)) : g.moveTo(x(i), y(v)));
  g.strokeStyle = color("--chart");
  g.lineWidth = 1.5;
  g.lineJoin = "round";
  g.stroke();
  g.lineTo(w, h - foot);
  g.lineTo(x(0), h - foot);
  g.closePath();
  g.fillStyle = color("--area");
  g.fill();
  if (canvas.at !== undefined) {
    g.fillStyle = color("--soft");
    g.fillRect(canvas.at * w, head, 1, h - foot - head);
  }
}

function drawAxis(g, w, h, foot, head, top, color, format, length) {
  g.strokeStyle = color("--line");
  g.lineWidth = 1;
  for (const v of [0, .5, 1]) {
    const at = Math.round(h - foot - v * (h - foot - head)) + .5;
    g.beginPath();
    g.moveTo(0, at);
    g.lineTo(w, at);
    g.stroke();
  }
  g.fillStyle = color("--soft");
  g.font = "10px system-ui, sans-serif";
  g.textBaseline = "alphabetic";
  g.textAlign = "left";
  g.fillText(format(top), 0, head - 3);
  g.fillText("−" + length / 60 + " min", 0, h - 3);
  g.textAlign = "right";
  g.fillText("now", w, h - 3);
}

// nice rounds up to a number people like at the top of an axis.
function nice(v) {
  const ten = 10 ** Math.floor(Math.log10(v));
  for (const m of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (v <= m * ten) return m * ten;
  return 10 * ten;
}

// ---- events and listeners

const levelTone = { info: "", warn: "warn", error: "bad" };
function addEvent(e) {
  if (e.number <= lastEvent) return;
  lastEvent = e.number;
  $("no-events").hidden = true;
  const li = make("li");
  const time = make("time", new Date(e.time).toLocaleTimeString([], { hourCycle: "h23" }));
  time.dateTime = e.time;
  time.title = new Date(e.time).toLocaleString();
  const level = make("span", e.level, "level");
  tone(level, levelTone[e.level] || "");
  const text = make("p");
  if (e.route) text.append(make("b", e.route), " ");
  text.append(make("i", e.kind), " ", e.text);
  li.append(time, level, text);
  $("events").prepend(li);
  while ($("events").childElementCount > maxEvents) $("events").lastElementChild.remove();
}

function showListeners(list) {
  $("listeners").hidden = list.length === 0;
  const text = JSON.stringify(list);
  const parent = $("listener-list");
  if (parent.dataset.shown === text) return;
  parent.dataset.shown = text;
  parent.replaceChildren(...list.map(l => {
    const box = make("div");
    const refused = Object.entries(l.refused).filter(([, n]) => n > 0).map(([why, n]) => why + " " + count(n)).join(", ");
    box.append(make("h3", l.name), make("code", l.address),
      make("p", `${l.connections} connected · ${count(l.accepted)} accepted · ${refused ? "refused: " + refused : "nobody refused"}`));
    return box;
  }));
}

// ---- buttons of the daemon

$("level").onchange = () => {
  const level = $("level").value;
  attempt(() => api("PUT", "/v1/log-level", { level }), "Log level " + level);
};
$("reload").onclick = () => attempt(() => api("POST", "/v1/reload"), "Configuration reloaded");
$("logout").onclick = () => attempt(async () => { await api("POST", "/v1/logout"); sessionStorage.removeItem("login"); location.reload(); });
$("login").onsubmit = async e => {
  e.preventDefault();
  set($("login-fault"), "");
  try {
    await api("POST", "/v1/login", { token: $("token").value });
    $("token").value = "";
    $("login").hidden = true;
    sessionStorage.setItem("login", "1");
    $("logout").hidden = false;
    open();
  } catch (err) {
    set($("login-fault"), err.message);
    $("token").select();
  }
};
$("logout").hidden = !sessionStorage.getItem("login");
open();
