// Draws each figure from the numbers beside it, with Observable Plot. The same numbers stand in a
// table below every picture, so that nothing depends on seeing it.
(() => {
  "use strict";
  const HEIGHT = 10000;
  const series = (stack) => `var(--c${stack.colour})`;
  const percent = (value) => `${Math.round(value * 1000) / 10} %`;
  const sign = (value) => (Math.abs(value) < 0.0005 ? "" : value > 0 ? "+" : "\u2212");
  const points = (value) => `${sign(value)}${Math.abs(Math.round(value * 1000) / 10)} pp`;
  const ratio = (value) => value.toFixed(2);
  const money = (value) => `$${value.toFixed(value && value < 0.01 ? 4 : 2)}`;
  const clock = (value) => `${Math.round(value * 10) / 10} s`;
  // As the tables print them.
  const exact = {
    points: (value) => `${sign(value)}${Math.abs(100 * value).toFixed(1)} pp`,
    ratio: (value) => value.toFixed(3),
    share: (value) => `${(100 * value).toFixed(1)} %`,
  };
  const forms = { points, ratio, share: percent, money, clock };
  const base = (width) => ({ className: "plot", width, style: { fontSize: "13px", fontFamily: "inherit", overflow: "visible" } });
  const quiet = { stroke: "var(--muted)", strokeDasharray: "5 4" };

  const bracket = (row, show) => {
    if (row.lower === null && row.upper === null && !row.unbounded) return show(row.value);
    const upper = row.unbounded ? "∞" : row.upper === null ? "" : show(row.upper);
    return row.lower === null ? `${show(row.value)} (up to ${upper})` : `${show(row.value)} [${show(row.lower)}, ${upper}]`;
  };

  const forest = (data, width) => {
    const show = forms[data.form];
    const rows = data.rows.filter((row) => row.value !== null).map((row, at) => ({ ...row, at }));
    if (rows.length === 0) return null;
    const neutral = data.form === "ratio" ? 1 : 0;
    const finite = rows.flatMap((row) => [row.value, row.lower, row.upper]).filter((x) => x !== null && Number.isFinite(x));
    const low = Math.min(data.threshold, neutral, ...finite);
    const high = Math.max(data.threshold, neutral, ...finite);
    const pad = (high - low || 1) * 0.08;
    const domain = [data.form === "points" ? low - pad : Math.max(0, low - pad), high + pad];
    const start = (row) => row.lower ?? row.value;
    const end = (row) => (row.unbounded ? domain[1] : row.upper ?? row.value);
    const held = data.side === "above" ? [data.threshold, domain[1]] : [domain[0], data.threshold];
    // Room for words on both sides, or words above each interval where there is none.
    const wide = width >= 620;
    const shift = wide ? 0 : 10;
    const ticks = Math.max(3, Math.round((wide ? width - 440 : width) / 90));
    const lines = Math.max(...rows.map((row) => Math.ceil(row.label.length / 26)));
    const step = wide ? Math.max(42, 16 + 14 * lines) : 66;
    const colour = (row) => (row.decides ? "var(--c1)" : "var(--c6)");
    const words = [650, 400].flatMap((fontWeight) => {
      const some = rows.filter((row) => row.decides === (fontWeight === 650));
      const plain = { y: "at", textAnchor: "start", fill: "var(--ink)", fontWeight };
      return wide ? [
        Plot.text(some, { ...plain, frameAnchor: "left", dx: -218, text: "label", lineWidth: 16.5, lineHeight: 1.15 }),
        Plot.text(some, { ...plain, frameAnchor: "right", dx: 12, text: (row) => bracket(row, exact[data.form]) }),
      ] : [
        Plot.text(some, {
          ...plain, frameAnchor: "left", dx: 2, dy: -12, stroke: "var(--surface)", strokeWidth: 4,
          lineWidth: (width - 20) / 13.5, text: (row) => `${row.label}: ${bracket(row, exact[data.form])}`,
        }),
      ];
    });
    return Plot.plot({
      ...base(width),
      height: 68 + rows.length * step, marginTop: 34, marginBottom: 34,
      marginLeft: wide ? 224 : 12, marginRight: wide ? 214 : 14,
      x: { domain, tickFormat: show, label: null, ticks },
      y: { axis: null, type: "band", domain: rows.map((row) => row.at), padding: 0 },
      color: { type: "identity" },
      marks: [
        held[1] > held[0] ? Plot.rect([held], { x1: (d) => d[0], x2: (d) => d[1], fill: "var(--ok-bg)" }) : null,
        Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1, ticks }),
        Plot.ruleX([neutral], { stroke: "var(--strong-line)" }),
        Plot.ruleX([data.threshold], { stroke: "var(--ok)", strokeWidth: 1.5, strokeDasharray: "5 4" }),
        Plot.text([data.threshold], {
          x: (d) => d, frameAnchor: "top", dy: -16, fill: "var(--ok)", fontWeight: 600, text: (d) => `threshold ${show(d)}`,
          textAnchor: data.threshold - domain[0] < 0.2 * (domain[1] - domain[0]) ? "start" : domain[1] - data.threshold < 0.2 * (domain[1] - domain[0]) ? "end" : "middle",
        }),
        Plot.ruleY(rows, { y: "at", x1: start, x2: end, dy: shift, strokeWidth: 2.5, stroke: colour }),
        Plot.tickX(rows.filter((row) => row.lower !== null), { y: "at", x: start, dy: shift, stroke: colour, strokeWidth: 2.5, insetTop: (step - 12) / 2, insetBottom: (step - 12) / 2 }),
        Plot.tickX(rows.filter((row) => row.upper !== null), { y: "at", x: end, dy: shift, stroke: colour, strokeWidth: 2.5, insetTop: (step - 12) / 2, insetBottom: (step - 12) / 2 }),
        Plot.text(rows.filter((row) => row.unbounded), { y: "at", x: end, dy: shift, text: () => "▶", fill: colour }),
        Plot.dot(rows, { y: "at", x: "value", dy: shift, r: 6, symbol: (row) => (row.decides ? "square" : "circle"), fill: colour, stroke: "var(--surface)" }),
        ...words,
      ],
    });
  };

  const rates = (data, width) => {
    const wide = width >= 640 && data.agents.length > 1;
    const rows = data.rows.map((row) => ({ ...row, facet: wide ? row.task : `${row.task} · ${row.agent}` }));
    const facets = [...new Set(rows.map((row) => row.facet))];
    const arms = [...new Set(rows.map((row) => row.arm))];
    const colour = new Map(rows.map((row) => [row.arm, `var(--c${row.colour})`]));
    const symbols = ["circle", "square", "triangle", "diamond", "star", "wye"];
    return Plot.plot({
      ...base(width),
      height: Math.min(HEIGHT, 70 + facets.length * (arms.length * 17 + 16)),
      marginLeft: 76, marginRight: wide ? 20 : 10, marginTop: 34, marginBottom: 34,
      x: { domain: [0, 1], tickFormat: (value) => `${Math.round(value * 100)}${value === 1 ? " %" : ""}`, ticks: 3, label: null },
      y: { axis: null, domain: arms, padding: 0.35 },
      fx: { label: null, domain: wide ? data.agents : undefined, padding: 0.1 },
      fy: { label: null, domain: facets, padding: 0.18 },
      symbol: { domain: arms, range: arms.map((_, at) => symbols[at % symbols.length]) },
      marks: [
        Plot.frame({ stroke: "none", fill: "var(--sunk)", fillOpacity: 0.55, rx: 4 }),
        Plot.axisFy({ anchor: "left", tickSize: 0, label: null, fill: "var(--ink)", textAnchor: "end", dx: -4 }),
        wide ? Plot.axisFx({ anchor: "top", label: null, fill: "var(--ink)", fontWeight: 600, dy: -6 }) : null,
        Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1, ticks: 3 }),
        Plot.ruleY(rows, {
          fx: wide ? "agent" : undefined, fy: "facet", y: "arm", x1: "lower", x2: "upper",
          stroke: (row) => colour.get(row.arm), strokeWidth: 2, strokeLinecap: "round",
        }),
        Plot.dot(rows, {
          fx: wide ? "agent" : undefined, fy: "facet", y: "arm", x: "value", r: 4.5, symbol: "arm",
          fill: (row) => colour.get(row.arm), stroke: "var(--surface)", strokeWidth: 0.8,
        }),
        Plot.tip(rows, Plot.pointer({
          fx: wide ? "agent" : undefined, fy: "facet", y: "arm", x: "value", fill: "var(--surface)", stroke: "var(--strong-line)",
          title: (row) => `${row.task}, ${row.arm}, ${row.agent}\n${row.passed} of ${row.total} passed${row.lower === null ? "" : `\n95 % interval ${percent(row.lower)} to ${percent(row.upper)}`}`,
        })),
      ],
      color: { type: "identity" },
    });
  };

  const spread = (data, width) => {
    // Long times read better in minutes, and get their ticks there.
    const minutes = data.form === "clock" && data.rows.some((row) => row[1] > 180);
    const unit = minutes ? 60 : 1;
    const show = minutes ? (value) => `${Math.round(value * 10) / 10} min` : forms[data.form];
    const rows = data.rows.map(([stack, value, run, href]) => ({ stack, value: value / unit, run, href }));
    const medians = data.medians.map((row) => ({ ...row, value: row.value / unit }));
    if (rows.length === 0) return null;
    const stacks = data.stacks;
    const colour = new Map(stacks.map((stack) => [stack.id, series(stack)]));
    const name = new Map(stacks.map((stack) => [stack.id, stack.name]));
    const { many } = data;
    const facet = { fy: "stack" };
    const shape = many
      ? Plot.rectY(rows, Plot.binX({ y: "proportion-facet" }, { ...facet, x: "value", thresholds: 60, fill: (row) => colour.get(row.stack), inset: 0.3 }))
      : Plot.dot(rows, Plot.dodgeY({ anchor: "middle", padding: 0.6 }, { ...facet, x: "value", r: 3.6, fill: (row) => colour.get(row.stack), fillOpacity: 0.85 }));
    const chart = Plot.plot({
      ...base(width),
      height: 60 + stacks.length * 96, marginLeft: 8, marginRight: 16, marginTop: 8, marginBottom: 34,
      x: { tickFormat: show, label: null, zero: true, nice: true, ticks: Math.max(3, Math.round(width / 110)) },
      y: { axis: null },
      fy: { domain: stacks.map((stack) => stack.id), axis: null, padding: 0.12 },
      color: { type: "identity" },
      marks: [
        Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1, ticks: Math.max(3, Math.round(width / 110)) }),
        shape,
        Plot.ruleX(medians, { fy: "stack", x: "value", stroke: "var(--ink)", strokeWidth: 2 }),
        Plot.text(medians, {
          fy: "stack", x: "value", frameAnchor: "bottom", dx: 6, dy: -2, textAnchor: "start", fill: "var(--ink)",
          stroke: "var(--surface)", strokeWidth: 4, text: (row) => `median ${show(row.value)}`,
        }),
        Plot.text(stacks, { fy: "id", frameAnchor: "top-left", dx: 2, dy: 2, text: (stack) => name.get(stack.id), fontWeight: 600, fill: series, stroke: "var(--surface)", strokeWidth: 4 }),
        many ? null : Plot.tip(rows, Plot.pointer({
          ...facet, x: "value", fill: "var(--surface)", stroke: "var(--strong-line)",
          title: (row) => `${row.run}\n${show(row.value)}\nclick: open the run`,
        })),
      ],
    });
    if (!many) chart.addEventListener("click", () => { if (chart.value) location.assign(chart.value.href); });
    return chart;
  };

  const spend = (data, width) => {
    if (data.points.length === 0) return null;
    const last = data.points[data.points.length - 1];
    return Plot.plot({
      ...base(width), height: 280, marginLeft: 58, marginRight: 24, marginTop: 26, marginBottom: 40,
      x: { label: "attempts ended", labelAnchor: "right", labelArrow: "none", ticks: Math.max(3, Math.round(width / 120)) },
      y: { label: null, tickFormat: (value) => `$${value.toLocaleString("en-US")}`, ticks: 5, nice: true, zero: true },
      marks: [
        Plot.gridY({ stroke: "var(--line)", strokeOpacity: 1, ticks: 5 }),
        Plot.areaY(data.points, { x: "0", y: "1", curve: "step-after", fill: "var(--c1)", fillOpacity: 0.12 }),
        Plot.lineY(data.points, { x: "0", y: "1", curve: "step-after", stroke: "var(--c1)", strokeWidth: 2 }),
        data.budget === null ? null : Plot.ruleY([data.budget], quiet),
        data.budget === null ? null : Plot.text([data.budget], { y: (d) => d, frameAnchor: "left", dx: 6, dy: -9, textAnchor: "start", fill: "var(--muted)", text: (d) => `budget ${money(d)}` }),
        Plot.dot([last], { x: "0", y: "1", fill: "var(--c1)", r: 4 }),
        Plot.text([last], { x: "0", y: "1", dy: -12, textAnchor: "end", fontWeight: 600, fill: "var(--ink)", text: (d) => money(d[1]) }),
      ],
    });
  };

  const kinds = { forest, rates, spread, spend };
  const draw = (figure) => {
    const slot = figure.querySelector(".slot");
    const data = figure.data || (figure.data = JSON.parse(figure.querySelector("script").textContent));
    const width = Math.max(280, Math.floor(slot.clientWidth));
    if (figure.drawn === width) return;
    figure.drawn = width;
    const chart = kinds[figure.dataset.chart](data, width);
    if (chart === null) return;
    const picture = chart.tagName.toLowerCase() === "svg" ? chart : chart.querySelector("svg");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", figure.dataset.summary);
    // The picture has one name; its parts, which the library names too, are not read out one by one.
    for (const part of picture.querySelectorAll("g[aria-label]")) {
      if (part.getAttribute("aria-label").endsWith("tick label")) part.classList.add("tick-label");
      part.removeAttribute("aria-label");
    }
    slot.replaceChildren(chart);
  };
  // Drawn again when the width changes; colours follow the theme by themselves.
  const resize = new ResizeObserver((entries) => { for (const entry of entries) draw(entry.target); });
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    draw(figure);
    resize.observe(figure);
  }
})();
