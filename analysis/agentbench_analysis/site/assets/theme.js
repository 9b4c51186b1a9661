// Light, dark, or what the system says; the choice stays in this browser.
(() => {
  "use strict";
  const choices = ["automatic", "light", "dark"];
  const root = document.documentElement;
  let choice = "automatic";
  try {
    choice = localStorage.getItem("agentbench-colours") || choice;
  } catch {
    // Storage may be closed to files; the choice then lasts for the page.
  }
  const show = () => {
    if (choice === "automatic") delete root.dataset.theme;
    else root.dataset.theme = choice;
  };
  show();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => { button.textContent = `Colours: ${choice}`; };
    label();
    button.hidden = false;
    button.addEventListener("click", () => {
      choice = choices[(choices.indexOf(choice) + 1) % choices.length];
      try {
        localStorage.setItem("agentbench-colours", choice);
      } catch {
        // As above.
      }
      show();
      label();
    });
    // A link into a closed section opens it.
    const open = () => {
      const id = decodeURIComponent(location.hash.slice(1));
      const target = id && document.getElementById(id);
      if (!target) return;
      for (let at = target.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
      target.scrollIntoView();
    };
    addEventListener("hashchange", open);
    open();
    // Paper shows everything.
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = [...document.querySelectorAll("details:not([open])")];
      for (const each of closed) each.open = true;
    });
    addEventListener("afterprint", () => {
      for (const each of closed) each.open = false;
    });
  });
})();
