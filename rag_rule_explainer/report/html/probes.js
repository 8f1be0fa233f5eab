// @ts-check
// The table of probes can be sorted by each column, and filtered by a text.

const table = /** @type {HTMLTableElement | null} */ (document.querySelector("table.probes"));
const filter = /** @type {HTMLElement | null} */ (document.querySelector(".filter"));

/**
 * Compares numbers as numbers, and everything else as texts.
 * @param {string} a
 * @param {string} b
 */
function compared(a, b) {
  const difference = Number(a) - Number(b);
  return a !== "" && b !== "" && !Number.isNaN(difference) ? difference : a < b ? -1 : a > b ? 1 : 0;
}

/**
 * @param {HTMLTableSectionElement} body
 * @param {number} column
 * @param {number} direction
 */
function sortRows(body, column, direction) {
  const rows = [...body.rows].map((row) => ({ row, key: row.cells[column].textContent ?? "" }));
  rows.sort((a, b) => direction * compared(a.key, b.key));
  body.append(...rows.map(({ row }) => row));
}

/**
 * @param {HTMLTableSectionElement} body
 * @param {string} text
 */
function filterRows(body, text) {
  const wanted = text.toLowerCase();
  let shown = 0;
  for (const row of body.rows) {
    row.hidden = !(row.textContent ?? "").toLowerCase().includes(wanted);
    if (!row.hidden) shown++;
  }
  return shown;
}

if (table && filter) {
  const body = table.tBodies[0];
  const heads = /** @type {HTMLTableCellElement[]} */ ([...(table.tHead?.rows[0].cells ?? [])]);
  for (const [column, head] of heads.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      sortRows(body, column, direction);
    });
  }
  const input = /** @type {HTMLInputElement} */ (filter.querySelector("input"));
  const status = /** @type {HTMLElement} */ (filter.querySelector("[role=status]"));
  input.addEventListener("input", () => {
    const shown = filterRows(body, input.value);
    status.textContent = input.value ? `${shown} of ${body.rows.length}` : "";
  });
  filter.hidden = false;
}
