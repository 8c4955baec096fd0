// Shared by all charts: elements, the tooltip, the selected label, the search, tables and the theme.

const NS = document.querySelector("svg").namespaceURI;
const tip = document.getElementById("tip");

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(NS, tag), attributes, children);
}

function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function fixed(value, digits = 3) {
  return value.toFixed(digits).replace("-", "−");
}

// Shortens a name. If the name is written from right to left, the marks that isolate it are closed.
function short(name, length = 28) {
  if (name.length <= length) return name;
  return name.slice(0, length - 1) + "…" + "\u2069".repeat((name.match(/[\u2066-\u2068]/g) ?? []).length);
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

// Redraws a chart whenever its width changes.
function onWidth(box, draw) {
  let width = 0;
  const measure = () => {
    const now = Math.round(box.clientWidth);
    if (now > 0 && now !== width) draw((width = now));
  };
  new ResizeObserver(() => requestAnimationFrame(measure)).observe(box);
  measure();
}

function showTip(x, y, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const left = x + 16 + tip.offsetWidth > innerWidth ? x - 16 - tip.offsetWidth : x + 16;
  tip.style.left = `${clamp(left, 4, innerWidth - tip.offsetWidth - 4)}px`;
  tip.style.top = `${clamp(y + 12, 4, innerHeight - tip.offsetHeight - 4)}px`;
}

function hideTip() {
  tip.hidden = true;
}

// The labels in focus: those that match the search (a set, or null), and the one that was selected
// by a click (a name, or null). Charts and tables listen to changes.
const looking = { found: null, chosen: null };
const listeners = [];

function look(change) {
  Object.assign(looking, change);
  for (const listener of listeners) listener(change);
}

function listen(listener) {
  listeners.push(listener);
}

// Tables

function cellValue(row, column) {
  const cell = row.cells[column];
  if (!cell.classList.contains("number")) return cell.textContent.toLowerCase();
  return "value" in cell.dataset ? Number(cell.dataset.value) : null;
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b) : (a > b) - (a < b); // works for infinities
}

function sortTable(table, column, direction) {
  const sign = direction === "descending" ? -1 : 1;
  const keyed = [...table.tBodies[0].rows].map((row) => [cellValue(row, column), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null); // unknown values come last
    return sign * compare(a, b);
  });
  table.tBodies[0].append(...keyed.map(([, row]) => row));
  for (const head of table.tHead.rows[0].cells) head.setAttribute("aria-sort", "none");
  table.tHead.rows[0].cells[column].setAttribute("aria-sort", direction);
}

function sortBy(event) {
  const head = event.currentTarget.closest("th");
  const first = head.classList.contains("number") ? "descending" : "ascending";
  const other = first === "descending" ? "ascending" : "descending";
  const direction = head.getAttribute("aria-sort") === first ? other : first;
  sortTable(head.closest("table"), head.cellIndex, direction);
}

function showRows(table, change) {
  const box = table.closest(".scroll");
  for (const row of table.tBodies[0].rows) {
    row.hidden = looking.found !== null && !looking.found.has(row.dataset.row);
    row.classList.toggle("chosen", row.dataset.row === looking.chosen);
    if ("chosen" in change && row.classList.contains("chosen")) {
      box.scrollTop = row.offsetTop - box.clientHeight / 2;
    }
  }
}

function startTables() {
  // These are not button elements, because buttons vanish in print on repeated table heads.
  for (const button of document.querySelectorAll(".sort")) {
    button.addEventListener("click", sortBy);
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sortBy(event);
    });
  }
  for (const table of document.querySelectorAll("table:has([data-row])")) {
    listen((change) => showRows(table, change));
  }
}

// The search

function allLabels(sections) {
  const supports = new Map();
  const add = (name, support) => supports.has(name) || supports.set(name, support);
  for (const section of sections) {
    if (section?.names) section.names.forEach((name, i) => add(name, section.support[i]));
    else if (section?.kind === "per_label") section.rows.forEach(([name, support]) => add(name, support));
  }
  return supports;
}

class Search {
  constructor(input, supports) {
    this.input = input;
    this.supports = supports;
    this.list = document.getElementById("matches");
    this.box = this.list.parentElement;
    this.at = -1;
    input.addEventListener("input", () => this.find());
    input.addEventListener("focus", () => this.input.value && this.open(true));
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => setTimeout(() => this.open(false), 150));
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => this.take(event.target.closest("li")));
  }

  open(open) {
    this.box.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
  }

  find() {
    const word = this.input.value.trim().toLowerCase();
    const names = [...this.supports.keys()].filter((name) => name.toLowerCase().includes(word));
    const count = `${names.length} of ${this.supports.size} labels`;
    document.getElementById("match-count").textContent = count;
    this.list.replaceChildren(...names.slice(0, 50).map((name, i) => this.item(name, i)));
    this.mark(-1);
    this.open(word !== "");
    look({ found: word === "" ? null : new Set(names), chosen: null });
  }

  item(name, i) {
    const support = html("span", {}, String(this.supports.get(name)));
    const item = html("li", { id: `match${i}`, role: "option", "aria-selected": "false" }, short(name, 80), support);
    item.dataset.name = name;
    return item;
  }

  mark(at) {
    this.at = at;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
    if (at >= 0) this.input.setAttribute("aria-activedescendant", `match${at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const count = this.list.children.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && count) {
      event.preventDefault();
      this.mark((this.at + step + count) % count);
    } else if (event.key === "Enter") {
      this.take(this.list.children[Math.max(this.at, 0)]);
    }
  }

  take(item) {
    if (!item) return;
    this.input.value = item.dataset.name;
    this.open(false);
    look({ found: null, chosen: item.dataset.name });
  }

  clear() {
    this.input.value = "";
    this.open(false);
  }
}

// The details of a label: one is shown at a time, the one that was chosen last.

function startDetails(root) {
  const all = [...root.querySelectorAll(".detail")];
  const select = root.querySelector("[data-detail-label]");
  const show = (i) => {
    all.forEach((detail, k) => detail.classList.toggle("shown", k === i));
    select.value = i;
  };
  select.addEventListener("change", () => show(Number(select.value)));
  listen(({ chosen }) => {
    const i = chosen ? all.findIndex((detail) => detail.dataset.detail === chosen) : -1;
    if (i >= 0) show(i);
  });
}

// The page

function startTheme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

function startChoosing(search) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-label]");
    if (button) look({ found: null, chosen: button.dataset.label });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hideTip();
    search?.clear();
    look({ found: null, chosen: null });
  });
  document.addEventListener("wheel", hideTip, { passive: true });
}

function start() {
  document.documentElement.classList.add("scripted");
  const sections = JSON.parse(document.getElementById("data").textContent);
  const input = document.getElementById("search");
  const search = input ? new Search(input, allLabels(sections)) : null;
  startTheme();
  startTables();
  startChoosing(search);
  document.querySelectorAll("section.label_details").forEach(startDetails);
  const charts = { label_map: LabelMap, surface: Surface, per_label: Scatter, threshold_curves: Curves };
  sections.forEach((data, i) => data && new charts[data.kind](document.getElementById(`s${i}`), data));
}
