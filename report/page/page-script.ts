/**
 * The page's script, plain JavaScript: nothing builds it.
 * New pictures come by server-sent events; they wait while the pointer or the focus is on the picture.
 */
export const pageScript = `
"use strict";
const $ = (id) => document.getElementById(id);
const figure = $("picture"), chosen = $("chosen"), state = $("state");
let frozen = false, pointed = false, waiting, index = -1;

function points() {
  return [...figure.querySelectorAll(".hold, .lane, .point")].filter((one) => one.querySelector("title") && one.getClientRects().length > 0);
}
function choose(step) {
  const all = points();
  if (all.length === 0) return;
  index = step === Infinity ? all.length - 1 : step === -Infinity ? 0 : (index + step + all.length) % all.length;
  all.forEach((one, i) => one.classList.toggle("chosen", i === index));
  chosen.textContent = (index + 1) + " of " + all.length + ": " + all[index].querySelector("title").textContent;
}
function rest() {
  index = -1;
  chosen.textContent = "";
  points().forEach((one) => one.classList.remove("chosen"));
}
figure.addEventListener("keydown", (event) => {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  if (event.key === "Escape") rest();
  if (!(event.key in steps)) return;
  event.preventDefault();
  if (index < 0 && steps[event.key] === -1) index = 0;
  choose(steps[event.key]);
});
figure.addEventListener("pointerenter", () => { pointed = true; });
figure.addEventListener("pointerleave", () => { pointed = false; show(); });
figure.addEventListener("blur", () => { rest(); show(); });

function show() {
  if (!waiting || frozen || pointed || index >= 0) return;
  figure.innerHTML = waiting.svg;
  if ($("words").open) $("tables").innerHTML = waiting.tables;
  figure.dataset.drawn = String(Number(figure.dataset.drawn || 0) + 1);
}
const live = document.body.dataset.live;
if (live) {
  const freeze = $("freeze"), span = $("span");
  let source, width, resized;
  const connect = () => {
    source?.close();
    width = figure.clientWidth;
    const offset = -new Date().getTimezoneOffset();
    source = new EventSource(live + "?" + new URLSearchParams({ span: span.value, width, offset }));
    source.addEventListener("picture", (event) => {
      // Summer time began or ended.
      if (offset !== -new Date().getTimezoneOffset()) return connect();
      waiting = JSON.parse(event.data);
      if (!frozen) $("held").innerHTML = waiting.held;
      show();
    });
    source.addEventListener("state", (event) => { state.textContent = JSON.parse(event.data); });
    source.addEventListener("open", () => { document.body.dataset.connection = "open"; });
    source.addEventListener("error", () => {
      document.body.dataset.connection = "lost";
      state.textContent = source.readyState === EventSource.CLOSED
        ? "The server sends no news: this page is open too often. Close another one, and load this one again."
        : "The connection is lost; trying again.";
    });
  };
  freeze.addEventListener("click", () => {
    frozen = !frozen;
    freeze.textContent = frozen ? "Follow again" : "Freeze picture";
    show();
  });
  span.addEventListener("change", connect);
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => { if (figure.clientWidth !== width) connect(); }, 200);
  });
  $("words").addEventListener("toggle", () => { if (waiting) $("tables").innerHTML = waiting.tables; });
  connect();
}
`;
