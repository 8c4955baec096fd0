// The smaller charts: F1 against support, threshold curves and the surface of scores.

const EDGE = { left: 46, right: 14, top: 14, bottom: 40 };
const FIGURES = ["precision", "recall", "F1"];

// Returns a plot with its axes, and the functions that map x and y to pixels.
function frame(width, height, x, y) {
  const right = width - EDGE.right;
  const bottom = height - EDGE.bottom;
  const px = (v) => EDGE.left + ((v - x.low) / (x.high - x.low)) * (right - EDGE.left);
  const py = (v) => bottom - ((v - y.low) / (y.high - y.low)) * (bottom - EDGE.top);
  const plot = svg("svg", { viewBox: `0 0 ${width} ${height}` });
  for (const [value, name] of y.ticks) {
    plot.append(
      svg("path", { class: "axis", d: `M${EDGE.left} ${py(value)}H${right}` }),
      svg("text", { x: EDGE.left - 8, y: py(value) + 4, "text-anchor": "end" }, name),
    );
  }
  for (const [value, name] of x.ticks) {
    plot.append(
      svg("path", { class: "axis", d: `M${px(value)} ${bottom}v5` }),
      svg("text", { x: px(value), y: bottom + 18, "text-anchor": "middle" }, name),
    );
  }
  const middle = (EDGE.left + right) / 2;
  plot.append(svg("text", { class: "title", x: middle, y: height - 4, "text-anchor": "middle" }, x.name));
  return { plot, px, py, right, bottom };
}

const UNIT = { low: 0, high: 1, ticks: [0, 0.25, 0.5, 0.75, 1].map((v) => [v, String(v)]) };

// Returns round numbers from low to high, about as many as requested.
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) {
    found.push([k * step, String(Number((k * step).toPrecision(6))).replace("-", "−")]);
  }
  return found;
}

// A logarithmic axis of supports. Labels without positive samples are left of 1.
const NEVER = -0.3;

function supportAxis(supports) {
  const logs = supports.map((s) => (s ? Math.log10(s) : NEVER));
  const low = Math.min(...logs) - 0.1;
  const high = Math.max(...logs, low + 0.7) + 0.1;
  const steps = high - low > 2 ? [1] : [1, 2, 5];
  const marks = low < NEVER ? [[NEVER, "0"]] : [];
  for (let k = 0; k <= high; k += 1) {
    for (const step of steps) marks.push([k + Math.log10(step), (step * 10 ** k).toLocaleString("en")]);
  }
  return { low, high, ticks: marks.filter(([v]) => v >= low && v <= high), name: "positive samples" };
}

class Scatter {
  constructor(root, data) {
    this.rows = data.rows;
    this.box = root.querySelector(".scatter");
    listen(() => this.width && this.light());
    onWidth(this.box, (width) => this.draw(width));
  }

  draw(width) {
    this.width = width;
    this.height = Math.round(clamp(width * 0.8, 260, 460));
    const x = supportAxis(this.rows.map((row) => row[1]));
    const { plot, px, py } = frame(width, this.height, x, { ...UNIT, low: -0.02, high: 1.02 });
    plot.append(svg("text", { class: "title", x: EDGE.left + 6, y: EDGE.top + 10 }, "F1"));
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", "F1 against the number of positive samples. The table contains the same numbers.");
    this.points = this.rows.map(([name, support, , , , f1]) => ({
      name,
      x: px(support ? Math.log10(support) : NEVER),
      y: py(f1),
      r: 5,
    }));
    this.dots = this.points.map(({ x: cx, y: cy, r }) => svg("circle", { class: "dot", cx, cy, r, style: "--c:var(--c0)" }));
    this.words = svg("g");
    plot.append(...this.dots, this.words);
    plot.addEventListener("pointermove", (event) => this.point(event, plot));
    plot.addEventListener("pointerleave", hideTip);
    plot.addEventListener("click", (event) => {
      const i = this.nearest(event, plot);
      look({ found: null, chosen: i === null ? null : this.points[i].name });
    });
    this.plot = plot;
    this.box.replaceChildren(plot);
    this.light();
  }

  nearest(event, plot) {
    const box = plot.getBoundingClientRect();
    const ratio = this.width / box.width;
    const x = (event.clientX - box.left) * ratio;
    const y = (event.clientY - box.top) * ratio;
    const away = this.points.map((p) => Math.hypot(p.x - x, p.y - y));
    const best = away.indexOf(Math.min(...away));
    return away[best] < 18 ? best : null;
  }

  point(event, plot) {
    const i = this.nearest(event, plot);
    if (i === null) return hideTip();
    const [name, support, predicted, ...figures] = this.rows[i];
    const values = FIGURES.map((figure, k) => `${figure} ${fixed(figures[k], 2)}`).join(", ");
    return showTip(
      event.clientX,
      event.clientY,
      html("b", {}, name),
      html("p", {}, `${support} positives, ${predicted} predicted`),
      html("p", {}, values),
    );
  }

  light() {
    const { found, chosen } = looking;
    const some = found !== null || this.points.some((p) => p.name === chosen);
    const namer = new Namer(this.width, this.height - EDGE.bottom, []);
    const words = [];
    this.plot.classList.toggle("dimmed", some);
    this.points.forEach((p, i) => {
      const lit = found?.has(p.name) || p.name === chosen;
      this.dots[i].classList.toggle("lit", Boolean(lit));
      const word = lit && words.length < 25 ? namer.place(p, short(p.name)) : null;
      if (word) words.push(word);
    });
    this.words.replaceChildren(...words);
  }
}

function figuresOf(predicted, hits, positives) {
  return {
    precision: hits / Math.max(predicted, 1),
    recall: hits / Math.max(positives, 1),
    F1: (2 * hits) / Math.max(predicted + positives, 1),
  };
}

function thresholdWords(threshold) {
  if (threshold === "inf") return "above all scores";
  if (threshold === "-inf") return "below all scores";
  return `at ${String(threshold).replace("-", "−")}`;
}

class Curves {
  constructor(root, data) {
    this.data = data;
    this.box = root.querySelector(".curves");
    this.readout = root.querySelector(".readout");
    this.select = root.querySelector("[data-curve]");
    const order = data.names.map((_, i) => i).sort((a, b) => data.support[b] - data.support[a]);
    const option = (i) => html("option", { value: i }, `${data.names[i]} (${data.support[i]})`);
    this.select.append(...order.map(option));
    this.select.addEventListener("change", () => this.choose(Number(this.select.value)));
    listen(({ chosen }) => {
      const i = chosen ? data.names.indexOf(chosen) : -1;
      if (i >= 0) this.choose(i);
    });
    this.label = order[0];
    onWidth(this.box, (width) => this.draw(width));
  }

  choose(i) {
    this.label = i;
    this.select.value = i;
    this.draw(this.width);
  }

  draw(width) {
    this.width = width;
    const curve = this.data.curves[this.label];
    const height = Math.round(clamp(width * 0.42, 240, 400));
    const low = curve.t[0];
    const high = curve.t.at(-1);
    const x = { low, high, ticks: ticks(low, high, width < 500 ? 4 : 8), name: "threshold" };
    const drawn = frame(width, height, x, { ...UNIT, high: 1.02 });
    const { plot, px, py } = drawn;
    this.points = curve.t.map((t, k) => ({
      t,
      predicted: curve.predicted[k],
      ...figuresOf(curve.predicted[k], curve.hits[k], this.data.support[this.label]),
    }));
    for (const figure of FIGURES) plot.append(this.line(figure, px, py));
    this.addThreshold(drawn, curve, low, high);
    this.addCursor(drawn);
    plot.setAttribute("aria-label", `Precision, recall and F1 of ${this.data.names[this.label]} by threshold`);
    this.box.replaceChildren(plot);
    this.describeChosen();
  }

  // If nothing is predicted, the precision is undefined and is not drawn.
  line(figure, px, py) {
    const points = this.points.filter((p) => figure !== "precision" || p.predicted > 0);
    const d = points.map((p, k) => `${k ? "L" : "M"}${px(p.t).toFixed(1)} ${py(p[figure]).toFixed(1)}`);
    return svg("path", { class: `line ${figure.toLowerCase()}`, d: d.join("") });
  }

  addThreshold({ plot, px, bottom }, curve, low, high) {
    if (curve.at === null) return;
    const ends = { inf: high, "-inf": low };
    const x = px(clamp(ends[curve.threshold] ?? curve.threshold, low, high));
    plot.append(svg("path", { class: "threshold", d: `M${x} ${EDGE.top}V${bottom}` }));
  }

  addCursor({ plot, px, bottom }) {
    const cursor = svg("path", { class: "cursor" });
    plot.append(cursor);
    plot.setAttribute("tabindex", "0");
    plot.setAttribute("role", "img");
    let at = null;
    const show = (k) => {
      at = k;
      cursor.setAttribute("d", k === null ? "" : `M${px(this.points[k].t)} ${EDGE.top}V${bottom}`);
      if (k === null) this.describeChosen();
      else this.describe(`Threshold ${thresholdWords(this.points[k].t)}`, this.points[k], this.points[k].predicted);
    };
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const x = ((event.clientX - box.left) * this.width) / box.width;
      const away = this.points.map((p) => Math.abs(px(p.t) - x));
      show(away.indexOf(Math.min(...away)));
    });
    plot.addEventListener("pointerleave", () => show(null));
    plot.addEventListener("blur", () => show(null));
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      show(clamp((at ?? Math.floor(this.points.length / 2)) + step, 0, this.points.length - 1));
    });
  }

  describeChosen() {
    const curve = this.data.curves[this.label];
    if (curve.at === null) return this.describe("No threshold", null);
    const [predicted, hits] = curve.at;
    const figures = figuresOf(predicted, hits, this.data.support[this.label]);
    return this.describe(`Chosen threshold ${thresholdWords(curve.threshold)}`, figures, predicted);
  }

  describe(words, figures, predicted) {
    const parts = figures ? FIGURES.map((figure) => `${figure} ${fixed(figures[figure])}`) : [];
    if (figures) parts.push(`${predicted} predicted`);
    this.readout.textContent = [`${this.data.names[this.label]}. ${words}`, ...parts].join(", ");
  }
}

class Surface {
  constructor(root, data) {
    this.data = data;
    this.heat = root.querySelector(".heat");
    this.select = root.querySelector("[data-dimension]");
    const known = data.scores.flat(2).filter((v) => v !== null);
    this.low = Math.min(...known);
    this.width = Math.max(...known) - this.low || 1;
    this.select?.addEventListener("change", () => this.paint());
    this.heat.addEventListener("pointermove", (event) => this.point(event));
    this.heat.addEventListener("pointerleave", hideTip);
  }

  dimensions() {
    return this.select?.value ? [Number(this.select.value)] : this.data.dimensions.map((_, k) => k);
  }

  // Returns what a cell shows: the best of the visible dimensions. The largest alpha is on top.
  read(cell) {
    const i = this.data.alphas.length - 1 - cell.parentElement.rowIndex;
    const j = cell.cellIndex - 1;
    let best = { i, j, k: null, score: null };
    for (const k of this.dimensions()) {
      const score = this.data.scores[k][i][j];
      if (score !== null && (best.score === null || score > best.score)) best = { i, j, k, score };
    }
    return best;
  }

  paint() {
    const [alpha, beta, dimension] = this.data.chosen;
    const inView = this.dimensions().includes(dimension);
    for (const cell of this.heat.querySelectorAll("td")) {
      const { i, j, score } = this.read(cell);
      const share = score === null ? 0 : (score - this.low) / this.width;
      cell.style.setProperty("--share", share.toFixed(3));
      cell.classList.toggle("deep", share > 0.5);
      cell.classList.toggle("chosen", inView && i === alpha && j === beta);
      cell.textContent = score === null ? "–" : fixed(score);
    }
  }

  point(event) {
    const cell = event.target.closest("td");
    const { i, j, k, score } = cell ? this.read(cell) : { score: null };
    if (score === null) return hideTip();
    const { scoring, rows, alphas, betas, dimensions } = this.data;
    return showTip(
      event.clientX,
      event.clientY,
      html("b", {}, `${scoring} ${fixed(score, 4)}`),
      html("p", {}, `${rows} ${alphas[i]}, beta ${betas[j]}, n_components ${dimensions[k]}`),
    );
  }
}
