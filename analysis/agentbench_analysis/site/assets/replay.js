// Steps through a trace. Everything it shows is already on the page; it only moves and marks.
(() => {
  "use strict";
  const controls = document.getElementById("replay");
  if (!controls) return;
  const steps = [...document.querySelectorAll(".trace > .steps > .step")];
  const find = (name) => controls.querySelector(`[data-do="${name}"]`);
  const [prev, play, next, speed, kind, scrub] = ["prev", "play", "next", "speed", "kind", "scrub"].map(find);
  const where = controls.querySelector("[data-at-step]");
  const needle = document.getElementById("needle");
  const bars = controls.querySelector(".timeline-bars");
  const starts = steps.map((step) => Number(step.dataset.x));
  let spent = 0;
  let known = false;
  const costs = steps.map((step) => {
    if (step.dataset.cost !== undefined) {
      spent += Number(step.dataset.cost);
      known = true;
    }
    return known ? spent : null;
  });
  let now = 0;
  let timer = 0;
  const two = (part) => String(Math.floor(part)).padStart(2, "0");
  const clock = (seconds) => (seconds < 60 ? `${seconds.toFixed(1)} s` : `${two(seconds / 60)}:${two(seconds % 60)}`);

  const matches = (step) => {
    if (kind.value === "calls") return step.querySelector(".call") !== null;
    if (kind.value === "said") return step.querySelector(".said") !== null;
    if (kind.value === "user") return step.classList.contains("user");
    return true;
  };
  const show = (index, { scroll = true, focus = false } = {}) => {
    steps[now].classList.remove("now");
    steps[now].removeAttribute("aria-current");
    now = Math.max(0, Math.min(steps.length - 1, index));
    const step = steps[now];
    step.classList.add("now");
    step.setAttribute("aria-current", "step");
    scrub.value = String(now + 1);
    const facts = [`Step ${now + 1} of ${steps.length}`];
    if (step.dataset.at !== undefined) facts.push(clock(Number(step.dataset.at)));
    if (costs[now] !== null) facts.push(`$${costs[now].toFixed(2)} so far`);
    where.textContent = facts.join(" · ");
    scrub.setAttribute("aria-valuetext", facts.join(", "));
    needle.setAttribute("d", `M${starts[now]} 0V44`);
    prev.disabled = now === 0;
    next.disabled = now === steps.length - 1;
    if (focus) step.focus({ preventScroll: true });
    if (scroll) step.scrollIntoView({ block: "start", behavior: "instant" });
  };
  const go = (index, options) => {
    show(index, options);
    history.replaceState(null, "", `#step-${now + 1}`);
  };
  const along = (direction) => {
    for (let at = now + direction; at >= 0 && at < steps.length; at += direction) {
      if (!steps[at].hidden) return at;
    }
    return now;
  };
  const pause = () => {
    clearTimeout(timer);
    timer = 0;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };
  const tick = () => {
    const to = along(1);
    if (to === now) return pause();
    const gap = Number(steps[to].dataset.at) - Number(steps[now].dataset.at);
    const wait = Number.isFinite(gap) ? (1000 * gap) / Number(speed.value) : 1500 / Number(speed.value);
    timer = setTimeout(() => { go(to); tick(); }, Math.max(120, Math.min(4000, wait)));
    return undefined;
  };
  const start = () => {
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    tick();
  };
  const toggle = () => (timer ? pause() : start());

  prev.addEventListener("click", () => { pause(); go(along(-1)); });
  next.addEventListener("click", () => { pause(); go(along(1)); });
  play.addEventListener("click", toggle);
  scrub.addEventListener("input", () => { pause(); go(Number(scrub.value) - 1); });
  kind.addEventListener("change", () => {
    for (const step of steps) step.hidden = !matches(step);
    if (steps[now].hidden) go(along(1));
  });
  bars.addEventListener("click", (event) => {
    const box = bars.getBoundingClientRect();
    const x = (1000 * (event.clientX - box.left)) / box.width;
    let nearest = 0;
    starts.forEach((from, step) => { if (from <= x) nearest = step; });
    pause();
    go(nearest);
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input[type='search'], select, textarea")) return;
    if (event.key === "j") { pause(); go(along(1), { focus: true }); }
    else if (event.key === "k") { pause(); go(along(-1), { focus: true }); }
    else if (event.key === "p") toggle();
    else return;
    event.preventDefault();
  });
  const fromHash = () => {
    const found = /^#step-(\d+)$/.exec(location.hash);
    if (found) show(Number(found[1]) - 1);
    return found !== null;
  };
  addEventListener("hashchange", fromHash);
  // A step scrolled to must clear whatever sticks to the top of the window.
  const header = document.querySelector(".top");
  const measure = () => {
    const above = getComputedStyle(header).position === "sticky" ? header.offsetHeight : 0;
    controls.style.top = `${above}px`;
    document.documentElement.style.setProperty("--stuck", `${above + controls.offsetHeight}px`);
  };
  controls.hidden = false;
  measure();
  addEventListener("resize", measure);
  if (!fromHash()) show(0, { scroll: false });
})();
