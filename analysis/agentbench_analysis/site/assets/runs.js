// Filters, sorts and pages the run table. The state stands in the address, so a view can be shared.
(() => {
  "use strict";
  const PAGE = 100;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const data = read("runs-data");
  const names = read("names-data");
  const table = document.getElementById("runs");
  const body = table.tBodies[0];
  const form = document.getElementById("filters");
  const pager = document.getElementById("pager");
  const count = document.getElementById("count");
  const column = {};
  data.columns.forEach((key, place) => {
    const packed = data.rows[place];
    column[key] = packed[0] === "words" ? packed[2].map((at) => packed[1][at]) : packed[1];
  });
  const total = column.run.length;
  const searchable = column.run.map((run) => run.toLowerCase());
  const heads = [...table.tHead.rows[0].cells];
  const state = { sort: "order", down: false, page: 0 };
  let shown = [];

  const unknown = "–";
  const format = {
    text: (value) => value,
    number: (value) => (value === null ? unknown : value.toLocaleString("en-US")),
    money: (value) => (value === null ? unknown
      : `$${value.toLocaleString("en-US", value > 0 && value < 0.01
        ? { minimumFractionDigits: 4, maximumFractionDigits: 4 }
        : { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`),
    duration: (value) => {
      if (value === null) return unknown;
      if (value < 60) return `${value.toFixed(1)} s`;
      const whole = Math.round(value);
      const two = (part) => String(part).padStart(2, "0");
      if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
      return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} m`;
    },
  };
  const badges = { pass: ["ok", "✓ "], fail: ["bad", "✕ "] };
  const badge = (word) => {
    const [kind, mark] = badges[word] || ["dim", "– "];
    const outer = document.createElement("span");
    outer.className = `badge ${kind}`;
    const icon = document.createElement("span");
    icon.setAttribute("aria-hidden", "true");
    icon.textContent = mark;
    outer.append(icon, word);
    return outer;
  };
  const cell = (key, kind, row) => {
    const value = column[key][row];
    if (kind === "link") {
      const head = document.createElement("th");
      head.scope = "row";
      const link = document.createElement("a");
      link.href = column.href[row];
      link.textContent = value;
      head.append(link);
      if (column.attempt[row] > 1) {
        const more = document.createElement("span");
        more.className = "muted";
        more.textContent = ` attempt ${column.attempt[row]}`;
        head.append(more);
      }
      return head;
    }
    const made = document.createElement("td");
    if (kind === "outcome") made.append(badge(value));
    else {
      if (kind !== "text") made.className = "num";
      const word = (names[key] && names[key][value]) || value;
      made.textContent = format[kind](word);
    }
    return made;
  };
  const draw = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    state.page = Math.max(0, Math.min(pages - 1, state.page));
    const from = state.page * PAGE;
    const slice = shown.slice(from, from + PAGE);
    const rows = document.createDocumentFragment();
    for (const row of slice) {
      const made = document.createElement("tr");
      for (const head of heads) made.append(cell(head.dataset.key, head.dataset.kind, row));
      rows.append(made);
    }
    body.replaceChildren(rows);
    const whole = (value) => value.toLocaleString("en-US");
    count.textContent = shown.length === 0 ? `No attempt of ${whole(total)} fits these filters.`
      : `${whole(from + 1)}–${whole(from + slice.length)} of ${whole(shown.length)} attempts` +
        (shown.length < total ? `, filtered from ${whole(total)}.` : ".");
    pager.hidden = pages === 1;
    document.getElementById("page-of").textContent = `Page ${state.page + 1} of ${pages}`;
    for (const button of pager.querySelectorAll("button")) {
      const back = button.dataset.to === "first" || button.dataset.to === "prev";
      button.disabled = back ? state.page === 0 : state.page === pages - 1;
    }
    for (const head of heads) {
      if (head.dataset.key === state.sort) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  };
  const compare = (one, other) => {
    const values = column[state.sort];
    const a = values[one];
    const b = values[other];
    // What is unknown comes last, whichever way the rest is sorted.
    if (a === null || b === null) return (a === null) - (b === null) || one - other;
    const order = typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
    return (state.down ? -order : order) || one - other;
  };
  const filter = () => {
    const asked = new FormData(form);
    const text = String(asked.get("q") || "").trim().toLowerCase();
    const wanted = [...form.querySelectorAll("select")].filter((each) => each.value)
      .map((each) => [column[each.name], each.value]);
    const flagged = asked.get("flagged") !== null;
    shown = [];
    for (let row = 0; row < total; row += 1) {
      if (text && !searchable[row].includes(text)) continue;
      if (flagged && !(column.flags[row] > 0)) continue;
      if (wanted.every(([values, value]) => values[row] === value)) shown.push(row);
    }
    shown.sort(compare);
    draw();
  };
  const remember = () => {
    const parts = new URLSearchParams();
    for (const [key, value] of new FormData(form)) if (value) parts.set(key, value);
    if (state.sort !== "order" || state.down) parts.set("sort", (state.down ? "-" : "") + state.sort);
    if (state.page) parts.set("page", String(state.page + 1));
    history.replaceState(null, "", parts.size ? `#${parts}` : location.pathname + location.search);
  };
  const recall = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    for (const field of form.elements) {
      if (!field.name) continue;
      if (field.type === "checkbox") field.checked = parts.has(field.name);
      else field.value = parts.get(field.name) || "";
    }
    const sort = parts.get("sort") || "order";
    const key = sort.replace(/^-/, "");
    state.sort = column[key] && heads.some((head) => head.dataset.key === key) ? key : "order";
    state.down = sort.startsWith("-");
    state.page = Math.max(0, Number(parts.get("page") || 1) - 1) || 0;
    filter();
  };

  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      state.down = state.sort === head.dataset.key ? !state.down : false;
      state.sort = head.dataset.key;
      state.page = 0;
      filter();
      remember();
    });
  }
  const changed = () => { state.page = 0; filter(); remember(); };
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(changed));
  pager.addEventListener("click", (event) => {
    const to = event.target.dataset.to;
    if (!to) return;
    state.page = { first: 0, prev: state.page - 1, next: state.page + 1, last: Infinity }[to];
    draw();
    remember();
    table.closest(".scroll").scrollIntoView({ block: "nearest" });
  });
  addEventListener("hashchange", recall);
  form.hidden = false;
  recall();
})();
