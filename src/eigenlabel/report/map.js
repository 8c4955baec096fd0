// The label map: a scatter plot of labels that can be moved, zoomed, searched and used by keyboard.

const PAD = 40;
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const pen = document.createElement("canvas").getContext("2d");
pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;

// Places names greedily: each name goes to the first of four sides where it overlaps neither a large
// dot nor an earlier name.
class Namer {
  constructor(width, height, dots) {
    this.width = width;
    this.height = height;
    this.taken = dots.filter(({ r }) => r > 4).map(({ x, y, r }) => [x - r, y - r, x + r, y + r]);
    this.taken.push([0, 0, 110, 26], [width - 110, height - 26, width, height]); // names of the axes
  }

  free([left, top, right, bottom]) {
    if (left < 2 || top < 2 || right > this.width - 2 || bottom > this.height - 2) return false;
    return this.taken.every(([l, t, r, b]) => right < l || left > r || bottom < t || top > b);
  }

  place(dot, text) {
    const w = pen.measureText(text).width;
    const sides = [
      [dot.x + dot.r + 3, dot.y - 8],
      [dot.x - dot.r - 3 - w, dot.y - 8],
      [dot.x - w / 2, dot.y - dot.r - 18],
      [dot.x - w / 2, dot.y + dot.r + 2],
    ];
    for (const [left, top] of sides) {
      const box = [left, top, left + w, top + 16];
      if (!this.free(box)) continue;
      this.taken.push(box);
      return svg("text", { class: "label", x: left, y: top + 12 }, text);
    }
    return null;
  }
}

class LabelMap {
  constructor(root, data) {
    this.data = data;
    this.root = root;
    this.count = data.names.length;
    const last = data.eigenlabels.length; // this axis is the support
    this.axes = [Math.min(0, last), Math.min(1, last)];
    this.view = { scale: 1, x: 0, y: 0 };
    this.hover = null;
    this.box = root.querySelector(".map");
    this.build();
    this.startControls();
    this.startPointer();
    this.startKeys();
    listen((change) => this.follow(change));
    onWidth(this.box, (width) => this.resize(width));
  }

  build() {
    const label = `Map of ${this.count} labels. Arrow keys move from label to label.`;
    this.svg = svg("svg", { role: "group", "aria-label": label, tabindex: "-1" });
    this.layers = ["axes", "links", "dots", "words"].map((name) => svg("g", { class: name }));
    this.svg.append(...this.layers);
    const order = this.data.support.map((_, i) => i).sort((a, b) => this.data.support[b] - this.data.support[a]);
    this.dots = [];
    for (const i of order) this.layers[2].append((this.dots[i] = this.dot(i)));
    this.dots[order[0]].setAttribute("tabindex", "0");
    this.box.append(this.svg);
    const legend = this.root.querySelector(".legend");
    const colour = (k) => ({ style: `--c:var(--c${k})` });
    legend.append(...this.data.groups.map((name, k) => html("li", colour(k), name)));
  }

  dot(i) {
    const near = this.data.neighbours[i].map(([j, r]) => `${this.data.names[j]} ${fixed(r, 2)}`);
    const words = [this.data.names[i], `${this.data.support[i]} positives`];
    if (near.length) words.push(`correlated with ${near.join(", ")}`);
    const style = `--c:var(--c${this.data.group[i]})`;
    const dot = svg("circle", { class: "dot", style, tabindex: "-1", role: "img", "aria-label": words.join("; ") });
    dot.dataset.index = i;
    return dot;
  }

  startControls() {
    const names = this.data.eigenlabels.map((_, k) => `eigenlabel ${k + 1}`).concat("support");
    for (const select of this.root.querySelectorAll("[data-axis]")) {
      const which = Number(select.dataset.axis);
      select.append(...names.map((name, k) => html("option", { value: k }, name)));
      select.value = this.axes[which];
      select.addEventListener("change", () => {
        this.axes[which] = Number(select.value);
        this.setScale();
      });
    }
    this.names = names;
    this.spread = this.root.querySelector("[data-spread]");
    this.spread.checked = this.crowded();
    this.spread.addEventListener("change", () => this.setScale());
    for (const button of this.root.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.zoom(Number(button.dataset.zoom)));
    }
  }

  // Returns true if half of the labels are close to the middle.
  crowded() {
    const away = this.data.coordinates.map((row) => Math.hypot(...row.slice(0, 2))).sort((a, b) => a - b);
    return away[Math.floor(away.length / 2)] < 0.2 * away.at(-1);
  }

  resize(width) {
    this.width = width;
    this.height = Math.round(clamp(innerHeight - 220, Math.min(width, 420), width));
    const largest = Math.max(1, ...this.data.support);
    const radius = clamp(width / 34, 9, 20) * (this.count > 150 ? 0.7 : 1);
    this.radius = this.data.support.map((s) => Math.max(2.5, radius * Math.sqrt(s / largest)));
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.setScale();
  }

  // A signed square root spreads out the labels in the middle.
  coordinate(i, axis) {
    if (axis === this.data.eigenlabels.length) return Math.log10(1 + this.data.support[i]);
    const value = this.data.coordinates[i][axis];
    return this.spread.checked ? Math.sign(value) * Math.sqrt(Math.abs(value)) : value;
  }

  setScale() {
    this.place = this.axes.map((axis, side) => {
      const values = this.dots.map((_, i) => this.coordinate(i, axis));
      const low = Math.min(0, ...values);
      const width = Math.max(0, ...values) - low || 1;
      const share = values.map((v) => (v - low) / width);
      const zero = -low / width;
      return side === 0 ? { share, zero } : { share: share.map((v) => 1 - v), zero: 1 - zero };
    });
    const [across, up] = this.place;
    const largest = Math.max(1, ...this.data.support);
    const weight = (i) =>
      Math.hypot(across.share[i] - across.zero, up.share[i] - up.zero) +
      0.35 * Math.sqrt(this.data.support[i] / largest);
    this.order = this.dots.map((_, i) => i).sort((a, b) => weight(b) - weight(a));
    this.view = { scale: 1, x: 0, y: 0 };
    this.paint();
  }

  pixel(shareX, shareY) {
    const { scale, x, y } = this.view;
    return {
      x: (PAD + shareX * (this.width - 2 * PAD)) * scale + x,
      y: (PAD + shareY * (this.height - 2 * PAD)) * scale + y,
    };
  }

  at(i) {
    return { ...this.pixel(this.place[0].share[i], this.place[1].share[i]), r: this.radius[i] };
  }

  paint() {
    this.dots.forEach((dot, i) => {
      const { x, y, r } = this.at(i);
      dot.setAttribute("cx", x.toFixed(1));
      dot.setAttribute("cy", y.toFixed(1));
      dot.setAttribute("r", r.toFixed(1));
    });
    this.paintAxes();
    this.light();
  }

  paintAxes() {
    const zero = this.pixel(this.place[0].zero, this.place[1].zero);
    const [across, up] = this.axes.map((axis) => this.names[axis]);
    this.layers[0].replaceChildren(
      svg("path", { class: "zero", d: `M0 ${zero.y}H${this.width}M${zero.x} 0V${this.height}` }),
      svg("text", { class: "title", x: this.width - 10, y: this.height - 10, "text-anchor": "end" }, `${across} →`),
      svg("text", { class: "title", x: 10, y: 20 }, `↑ ${up}`),
    );
  }

  // Returns the labels to highlight, with the most important first, or null.
  lit() {
    const chosen = looking.chosen === null ? -1 : this.data.names.indexOf(looking.chosen);
    const active = this.hover ?? (chosen >= 0 ? chosen : null);
    if (active !== null) return [active, ...this.data.neighbours[active].map(([j]) => j)];
    if (looking.found === null) return null;
    return this.order.filter((i) => looking.found.has(this.data.names[i]));
  }

  light() {
    const lit = this.lit();
    this.svg.classList.toggle("dimmed", lit !== null);
    const set = new Set(lit ?? []);
    this.dots.forEach((dot, i) => {
      dot.classList.toggle("lit", set.has(i));
      dot.classList.toggle("chosen", this.data.names[i] === looking.chosen);
    });
    this.paintLinks(lit);
    this.paintNames(lit);
  }

  paintLinks(lit) {
    const links = [];
    if (lit !== null && (this.hover !== null || looking.chosen !== null)) {
      const from = this.at(lit[0]);
      for (const [j, r] of this.data.neighbours[lit[0]]) {
        const to = this.at(j);
        const style = `stroke-width:${(0.8 + 3 * Math.abs(r)).toFixed(1)}`;
        const d = `M${from.x.toFixed(1)} ${from.y.toFixed(1)}L${to.x.toFixed(1)} ${to.y.toFixed(1)}`;
        links.push(svg("path", { class: r < 0 ? "link negative" : "link", style, d }));
      }
    }
    this.layers[1].replaceChildren(...links);
  }

  // The colour shows the facet, so the name does not repeat it.
  word(i) {
    const name = this.data.names[i];
    return this.data.colours === "facet" ? name.split("::").at(-1) : name;
  }

  paintNames(lit) {
    const places = this.dots.map((_, i) => this.at(i));
    const namer = new Namer(this.width, this.height, lit ? lit.map((i) => places[i]) : places);
    const most = Math.floor((this.width * this.height) / 8000);
    const words = [];
    for (const i of lit ?? this.order) {
      if (words.length >= most) break;
      const word = namer.place(places[i], short(this.word(i)));
      if (word) words.push(word);
    }
    this.layers[3].replaceChildren(...words);
  }

  follow(change) {
    const chosen = change.chosen ? this.data.names.indexOf(change.chosen) : -1;
    if (chosen >= 0 && this.view.scale > 1) this.centre(chosen);
    else if (this.width) this.light();
  }

  centre(i) {
    const { x, y } = this.at(i);
    this.move(this.width / 2 - x, this.height / 2 - y);
  }

  move(dx, dy) {
    const view = this.view;
    view.x = clamp(view.x + dx, this.width * (1 - view.scale), 0);
    view.y = clamp(view.y + dy, this.height * (1 - view.scale), 0);
    this.paint();
  }

  // Zooms about a point. The factor 0 shows the whole map.
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const view = this.view;
    const scale = clamp(view.scale * factor, 1, 60);
    const ratio = scale / view.scale;
    view.x = x - (x - view.x) * ratio;
    view.y = y - (y - view.y) * ratio;
    view.scale = scale;
    this.move(0, 0);
  }

  local(event) {
    const frame = this.svg.getBoundingClientRect();
    const ratio = this.width / frame.width;
    return { x: (event.clientX - frame.left) * ratio, y: (event.clientY - frame.top) * ratio };
  }

  index(event) {
    const dot = event.target.closest(".dot");
    return dot ? Number(dot.dataset.index) : null;
  }

  point(i, x, y) {
    this.hover = i;
    this.light();
    if (i === null) hideTip();
    else showTip(x, y, ...this.description(i));
  }

  description(i) {
    const { names, support, neighbours, n_samples, groups, group } = this.data;
    const share = ((100 * support[i]) / n_samples).toPrecision(2);
    const rows = neighbours[i].map(([j, r]) =>
      html("tr", {}, html("td", {}, names[j]), html("td", { class: "number" }, fixed(r, 2))),
    );
    const parts = [
      html("b", {}, names[i]),
      html("p", {}, `${support[i]} positives (${Number(share)} %), ${groups[group[i]]}`),
    ];
    if (rows.length) parts.push(html("p", {}, "correlated with"), html("table", {}, ...rows));
    return parts;
  }

  startPointer() {
    let from = null;
    const surface = this.svg;
    surface.addEventListener("pointerover", (event) => {
      const i = this.index(event);
      if (i !== null && !from) this.point(i, event.clientX, event.clientY);
    });
    surface.addEventListener("pointerout", (event) => this.index(event) !== null && this.point(null));
    surface.addEventListener("click", (event) => {
      const i = this.index(event);
      if (i !== null) look({ found: null, chosen: this.data.names[i] });
    });
    surface.addEventListener("pointerdown", (event) => {
      if (this.index(event) !== null || event.button !== 0) return;
      from = { ...this.local(event), moved: false };
      surface.setPointerCapture(event.pointerId);
    });
    surface.addEventListener("pointermove", (event) => {
      if (!from) return;
      const to = this.local(event);
      if (!from.moved && Math.hypot(to.x - from.x, to.y - from.y) < 3) return;
      surface.classList.add("dragging");
      this.move(to.x - from.x, to.y - from.y);
      from = { ...to, moved: true };
    });
    const end = () => {
      if (from && !from.moved) look({ chosen: null });
      from = null;
      surface.classList.remove("dragging");
    };
    surface.addEventListener("pointerup", end);
    surface.addEventListener("pointercancel", end);
    surface.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  // The wheel scrolls the page unless the map has the focus.
  wheel(event) {
    if (!this.svg.matches(":focus-within") && !event.ctrlKey) return;
    event.preventDefault();
    const { x, y } = this.local(event);
    this.zoom(Math.exp(-clamp(event.deltaY, -120, 120) / 250), x, y);
  }

  startKeys() {
    this.svg.addEventListener("focusin", (event) => {
      const i = this.index(event);
      if (i === null) return;
      const frame = event.target.getBoundingClientRect();
      this.point(i, frame.right, frame.bottom);
    });
    this.svg.addEventListener("focusout", () => this.point(null));
    this.svg.addEventListener("keydown", (event) => {
      const i = this.index(event);
      if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 1.5 : 1 / 1.5);
      if (i === null) return;
      if (event.key === "Enter" || event.key === " ") look({ found: null, chosen: this.data.names[i] });
      else if (event.key in ARROWS) this.step(i, ARROWS[event.key]);
      else return;
      event.preventDefault();
    });
  }

  // Moves the focus to the nearest label within 45 degrees of a direction.
  step(i, [dx, dy]) {
    const from = this.at(i);
    let best = null;
    this.dots.forEach((dot, j) => {
      const x = this.at(j).x - from.x;
      const y = this.at(j).y - from.y;
      const ahead = x * dx + y * dy;
      const distance = Math.hypot(x, y);
      if (j === i || ahead <= 0 || ahead < distance * Math.SQRT1_2) return;
      if (best === null || distance < best.distance) best = { dot, distance };
    });
    if (!best) return;
    this.dots[i].setAttribute("tabindex", "-1");
    best.dot.setAttribute("tabindex", "0");
    best.dot.focus();
  }
}
