// @ts-check
// Every mark of a lattice answers to the pointer and to keys, and a rule lights up the subsets that it covers.

/**
 * @typedef {{verdict: string, reason: string}} Judgement
 * @typedef {{kept: string[], answers: {text: string}[], verdicts: Record<string, Judgement>,
 *   votes: Record<string, {holds: number, breaks: number}>, latency: number | null, error: string}} Probe
 * @typedef {{probes: Probe[], predicates: Record<string, string>}} Explanation
 */

const LONGEST = 1500;
const WORDS = /** @type {Record<string, string>} */ ({
  holds: "the condition holds",
  breaks: "the condition does not hold",
  unknown: "no verdict",
});

/**
 * Returns a text with its invisible characters as escapes, so that none changes how the rest is read.
 * @param {string} text
 */
function plain(text) {
  const cut = text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text;
  return cut
    .replace(/\s/g, " ")
    .replace(/(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu, (found) => "\\u" + hexadecimal(found));
}

/** @param {string} character */
function hexadecimal(character) {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}

/** @returns {Explanation} */
function readExplanation() {
  return JSON.parse(document.getElementById("explanation")?.textContent ?? "{}");
}

/** @type {Explanation | undefined} */
let known;

function reading() {
  known ??= readExplanation();
  return known;
}

class Lattice {
  /** @param {HTMLElement} figure */
  constructor(figure) {
    this.figure = figure;
    this.size = Number(figure.dataset.units);
    this.names = /** @type {string[]} */ (JSON.parse(figure.dataset.names ?? "[]"));
    this.always = /** @type {string[]} */ (JSON.parse(figure.dataset.always ?? "[]"));
    this.kind = figure.dataset.kind ?? "retention";
    this.svg = /** @type {SVGSVGElement} */ (figure.querySelector(".marks"));
    this.scrolled = /** @type {HTMLElement} */ (figure.querySelector(".scrolled"));
    this.panel = /** @type {HTMLElement} */ (figure.querySelector("output"));
    this.near = /** @type {SVGPathElement} */ (figure.querySelector(".near"));
    this.marks = /** @type {Map<number, SVGUseElement>} */ (new Map());
    for (const mark of this.svg.querySelectorAll("use")) this.marks.set(Number(mark.dataset.m), mark);
    this.at = -1;
    this.ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    this.ring.setAttribute("class", "at");
    this.near.after(this.ring);
    this.listen();
    this.scrolled.scrollLeft = (this.scrolled.scrollWidth - this.scrolled.clientWidth) / 2;
  }

  listen() {
    /** @param {Event} event */
    const pointed = (event) => {
      const mark = /** @type {Element} */ (event.target).closest("use");
      if (mark) this.show(Number(mark.dataset.m));
    };
    this.svg.addEventListener("pointerover", pointed);
    this.svg.addEventListener("click", pointed);
    this.scrolled.addEventListener("keydown", (event) => this.walk(event));
    this.scrolled.addEventListener("focus", () => {
      if (this.at < 0 && this.scrolled.matches(":focus-visible")) this.show((1 << this.size) - 1);
    });
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = this.next(event.key);
    if (to === undefined) return;
    event.preventDefault();
    this.show(to);
    this.marks.get(to)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @param {string} key */
  next(key) {
    const full = (1 << this.size) - 1;
    const at = this.at < 0 ? full : this.at;
    if (key === "Home") return full;
    if (key === "End") return 0;
    if (key === "ArrowLeft" || key === "ArrowRight") return this.beside(at, key === "ArrowRight" ? 1 : -1);
    if (key === "ArrowUp") return this.nearest(at, full & ~at);
    if (key === "ArrowDown") return this.nearest(at, at);
    return undefined;
  }

  /**
   * Returns the next subset of the same size, in the order of the row.
   * @param {number} at
   * @param {number} step
   */
  beside(at, step) {
    const level = [...this.marks.keys()].filter((mask) => ones(mask) === ones(at));
    return level[(level.indexOf(at) + step + level.length) % level.length];
  }

  /**
   * Returns the nearest subset that differs in one of these units.
   * @param {number} at
   * @param {number} units
   */
  nearest(at, units) {
    const x = this.place(at)[0];
    let best = at;
    let least = Infinity;
    for (let bit = 1; bit <= units; bit <<= 1) {
      const far = units & bit ? Math.abs(this.place(at ^ bit)[0] - x) : Infinity;
      if (far < least) [best, least] = [at ^ bit, far];
    }
    return best;
  }

  /**
   * @param {number} mask
   * @returns {[number, number]}
   */
  place(mask) {
    const mark = this.marks.get(mask);
    return [Number(mark?.getAttribute("x")), Number(mark?.getAttribute("y"))];
  }

  /**
   * Shows what is known of a subset, and lines to all subsets that differ in one unit.
   * @param {number} mask
   */
  show(mask) {
    if (mask === this.at) return;
    this.at = mask;
    const [x, y] = this.place(mask);
    let lines = "";
    for (let place = 0; place < this.size; place++) {
      const [toX, toY] = this.place(mask ^ (1 << place));
      lines += `M${x} ${y}L${toX} ${toY}`;
    }
    this.near.setAttribute("d", lines);
    this.ring.setAttribute("cx", String(x));
    this.ring.setAttribute("cy", String(y));
    this.ring.setAttribute("r", this.size > 6 ? "6" : "15");
    this.panel.replaceChildren(...this.told(mask));
  }

  /** @param {number} mask */
  told(mask) {
    const explanation = reading();
    const named = this.names.filter((_, place) => mask & (1 << place));
    const kept = [...named, ...this.always];
    const left = this.names.filter((_, place) => !(mask & (1 << place)));
    const number = this.marks.get(mask)?.dataset.p;
    const probe = number === undefined ? undefined : explanation.probes[Number(number)];
    const lines = [
      line("Retained", ...(kept.length ? kept : ["no documents"])),
      line("Omitted", ...(left.length ? left : ["no documents"])),
    ];
    if (!probe) return [line("Verdict", "not asked"), ...lines];
    // A probe may be judged for the opposite condition alone; the mark says what that means for this one.
    const kind = this.kind in probe.verdicts ? this.kind : Object.keys(probe.verdicts)[0] ?? this.kind;
    const judged = probe.verdicts[kind];
    const state = this.marks.get(mask)?.getAttribute("href")?.split("-").pop() ?? "";
    const votes = probe.votes[kind];
    const condition = plain(explanation.predicates[this.kind] ?? "");
    lines.unshift(line("Verdict", `${WORDS[state] ?? "no verdict"}: ${condition}`));
    lines.push(line("Answer", probe.answers.length ? plain(probe.answers[0].text) || "(empty)" : "none"));
    const reason = probe.error || judged?.reason;
    if (reason) lines.push(line("Reason", plain(reason)));
    const voted = plain(explanation.predicates[kind] ?? "");
    if (votes) lines.push(line("Votes", `${votes.holds} for “${voted}”, ${votes.breaks} against`));
    return lines;
  }

  /**
   * Lights up the subsets that retain all of ``need`` and none of ``avoid``.
   * @param {number} need
   * @param {number} avoid
   */
  light(need, avoid) {
    this.figure.classList.add("lighting");
    for (const [mask, mark] of this.marks) {
      mark.classList.toggle("lit", (mask & need) === need && (mask & avoid) === 0);
    }
  }

  darken() {
    this.figure.classList.remove("lighting");
  }
}

/** @param {number} mask */
function ones(mask) {
  let count = 0;
  for (let left = mask; left; left &= left - 1) count++;
  return count;
}

/**
 * Returns a line with texts between commas. None changes the order in which the others are read.
 * @param {string} label
 * @param {string[]} said
 */
function line(label, ...said) {
  const element = document.createElement("p");
  const name = document.createElement("b");
  name.textContent = `${label}: `;
  element.append(name);
  said.forEach((each, place) => {
    const isolated = document.createElement("bdi");
    isolated.textContent = each;
    element.append(place ? ", " : "", isolated);
  });
  return element;
}

const lattices = [...document.querySelectorAll("figure.lattice")].map(
  (figure) => new Lattice(/** @type {HTMLElement} */ (figure)),
);

/** @type {HTMLButtonElement | undefined} */
let pressed;

/** @param {Element} item */
function lightRule(item) {
  const { need, avoid } = /** @type {HTMLElement} */ (item.querySelector(".sentence")).dataset;
  for (const lattice of lattices) lattice.light(Number(need), Number(avoid));
}

function settle() {
  const item = pressed?.closest("li");
  if (item) lightRule(item);
  else for (const lattice of lattices) lattice.darken();
}

for (const item of lattices.length ? document.querySelectorAll(".rules > li") : []) {
  const label = /** @type {HTMLElement} */ (item.querySelector(".label"));
  const button = document.createElement("button");
  button.type = "button";
  button.className = "label";
  button.textContent = label.textContent;
  button.title = "Light up the subsets that this rule is about";
  button.setAttribute("aria-pressed", "false");
  label.replaceWith(button);
  item.addEventListener("pointerenter", () => lightRule(item));
  item.addEventListener("pointerleave", settle);
  button.addEventListener("click", () => {
    const again = pressed === button;
    pressed?.setAttribute("aria-pressed", "false");
    pressed = again ? undefined : button;
    button.setAttribute("aria-pressed", String(!again));
    settle();
  });
}
