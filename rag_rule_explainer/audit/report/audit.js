// @ts-check
// The lists of documents and of questions are searched by typing, filtered, and sorted by each column. All
// rows are data in the page; only some of them are in the table at a time.
"use strict";

(() => {
  /** @typedef {string | number} Cell */
  /** @typedef {{ cells: Cell[], text: string }} Entry */

  const AT_A_TIME = 100;
  const table = /** @type {HTMLTableElement | null} */ (document.querySelector("table.audited"));
  const find = /** @type {HTMLElement | null} */ (document.querySelector(".find"));
  const held = document.getElementById("rows");
  const more = /** @type {HTMLElement | null} */ (document.querySelector(".more"));
  if (!table || !find || !held || !more) return;

  /** @type {Entry[]} */
  const entries = JSON.parse(held.textContent ?? "[]").map((/** @type {Cell[]} */ cells) => ({
    cells,
    text: cells.slice(0, -1).filter((cell) => typeof cell === "string").join("\n").toLowerCase(),
  }));
  const heads = /** @type {HTMLTableCellElement[]} */ ([...(table.tHead?.rows[0].cells ?? [])]);
  const body = table.tBodies[0];
  const input = /** @type {HTMLInputElement} */ (find.querySelector("input"));
  const select = /** @type {HTMLSelectElement} */ (find.querySelector("select"));
  const status = /** @type {HTMLElement} */ (find.querySelector("[role=status]"));
  let found = entries;
  let shown = AT_A_TIME;
  /** @type {{ column: number, direction: number } | null} */
  let order = null;

  /** @param {Cell} cell */
  const said = (cell) => (typeof cell === "number" ? cell.toLocaleString("en") : cell);

  /** @param {Entry} entry */
  function rowOf(entry) {
    const row = document.createElement("tr");
    heads.forEach((head, column) => {
      const cell = row.insertCell();
      cell.className = head.className;
      const text = document.createElement("bdi");
      text.textContent = String(said(entry.cells[column]));
      if (column > 0) {
        cell.append(text);
        return;
      }
      const link = document.createElement("a");
      link.href = `${table?.dataset.folder}/${entry.cells[entry.cells.length - 1]}`;
      link.append(text);
      cell.append(link);
    });
    return row;
  }

  function lay() {
    body.replaceChildren(...found.slice(0, shown).map(rowOf));
    const left = found.length - Math.min(shown, found.length);
    status.textContent = found.length === entries.length
      ? `${entries.length.toLocaleString("en")}`
      : `${found.length.toLocaleString("en")} of ${entries.length.toLocaleString("en")}`;
    more?.replaceChildren();
    if (left > 0) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `Show more (${left.toLocaleString("en")})`;
      button.addEventListener("click", () => {
        shown += 10 * AT_A_TIME;
        lay();
      });
      more?.append(button);
    }
  }

  /** @param {Entry} entry @param {number} column */
  function keyOf(entry, column) {
    const cell = entry.cells[column];
    if (typeof cell === "number") return cell;
    const number = parseFloat(cell);
    return /^[\d.]+ ?%/.test(cell) && !Number.isNaN(number) ? number : cell.toLowerCase();
  }

  /** @param {Entry} a @param {Entry} b @param {number} column */
  function compared(a, b, column) {
    const [one, other] = [keyOf(a, column), keyOf(b, column)];
    if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
    return typeof one === "number" ? 1 : -1;
  }

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [column, wanted] = select.value ? JSON.parse(select.value) : [-1, undefined];
    found = entries.filter((entry) => {
      if (column >= 0) {
        const cell = entry.cells[column];
        if (wanted === undefined ? !cell : cell !== wanted) return false;
      }
      return words.every((word) => entry.text.includes(word));
    });
    if (order) {
      const { column: by, direction } = order;
      found = [...found].sort((a, b) => direction * compared(a, b, by));
    }
    shown = AT_A_TIME;
    lay();
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const direction = order?.column === column ? -order.direction : column > 0 ? -1 : 1;
      order = { column, direction };
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      search();
    });
  });
  let isAwaited = false;
  input.addEventListener("input", () => {
    // Who types fast is not made to wait for each letter.
    if (isAwaited) return;
    isAwaited = true;
    requestAnimationFrame(() => {
      isAwaited = false;
      search();
    });
  });
  select.addEventListener("change", search);
  find.hidden = false;
  search();
})();
