// Starts the page. A file of its own, because a strict content security policy allows no inline script.

// The small module has the billing story as it is; whatever goes beyond it is in the large one.
const query = new URLSearchParams(location.search);
const lab = query.get("lab") ?? "billing-story";
const beyond = ["do", "off", "with"].some((name) => query.has(name));
const drills = query.has("drill");
const embed = query.get("embed") === "1";
const ghost = (query.get("ghost") ?? "none") !== "none";
const labs = embed || drills || ghost || lab !== "billing-story" || beyond;
if (embed) document.documentElement.dataset.embed = ["transport", "none"].find((name) => name === query.get("controls")) ?? "full";
// The guide explains the story's drawing; a lab has words of its own.
if (drills || lab !== "billing-story") document.documentElement.dataset.lab = "";
// The module that draws graphs is loaded once a canvas comes near the visible part of the page.
let chart;
window.leaseLabChart = (canvas) =>
  new Promise((resolve, reject) => {
    const load = async () => {
      const module = await import("./{{chart-js}}");
      await module.default({ module_or_path: new URL("./{{chart-wasm}}", import.meta.url) });
      return module;
    };
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          observer.disconnect();
          chart ??= load();
          chart.then(resolve, reject);
        }
      },
      { rootMargin: "400px" },
    );
    observer.observe(canvas);
  });
// Frames of one page that come from one place share what is compiled; where they may not, each compiles its own.
const compiled = (address) => {
  if (!embed) return fetch(address);
  for (let place = 0; place < parent.length; place += 1) {
    try {
      const other = parent[place].leaseLabCompiled?.get(address.href);
      if (other) return other;
    } catch {
      // A frame of another origin.
    }
  }
  const mine = WebAssembly.compileStreaming(fetch(address)).catch(async () =>
    // Some servers do not know what WebAssembly is.
    WebAssembly.compile(await (await fetch(address)).arrayBuffer()),
  );
  (window.leaseLabCompiled ??= new Map()).set(address.href, mine);
  return mine;
};
// A frame starts when it is near to be seen.
const seen = () =>
  new Promise((resolve) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          observer.disconnect();
          resolve();
        }
      },
      { rootMargin: "300px" },
    );
    observer.observe(document.body);
  });
const start = async (labs) => {
  const [js, wasm] = labs ? ["./{{labs-js}}", "./{{labs-wasm}}"] : ["./{{js}}", "./{{wasm}}"];
  if (labs) {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = new URL("./{{labs-css}}", import.meta.url);
    document.head.append(style);
  }
  try {
    // Both at once: the module is on its way while its JavaScript is read.
    const module = compiled(new URL(wasm, import.meta.url));
    const { default: init } = await import(js);
    await init({ module_or_path: module });
  } catch (error) {
    // The style sheet can show a message instead of a blank page.
    document.documentElement.dataset.boot = "failed";
    throw error;
  }
};
// The small module asks for the large one, which takes its place; what no address says stays as it was.
const kept = [".events select", ".view-controls select", ".events input", ".clocks .toggle", ".world details"];
const fields = () => kept.map((selector) => [...document.querySelectorAll(selector)]);
const state = (field) => field.getAttribute("aria-pressed") ?? field.open ?? (field.type === "checkbox" ? field.checked : field.value);
window.leaseLabMore = async () => {
  const before = fields().map((list) => list.map(state));
  const top = scrollY;
  await start(true);
  scrollTo(0, top);
  fields().forEach((list, group) => list.forEach((field, place) => {
    const value = before[group][place];
    if (value === undefined || state(field) === value) return;
    if (field.matches("details")) field.open = value;
    else if (field.matches("select")) {
      field.value = value;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    } else if (value !== "false") field.click();
  }));
};
if (embed) {
  const page = await import("./{{embed}}");
  await seen();
  await start(labs);
  page.ready();
} else {
  await start(labs);
  // Later visits need no network; a browser that refuses this loses nothing else.
  try {
    await navigator.serviceWorker?.register(new URL("sw.js", import.meta.url));
  } catch {
    // In a sandbox, and where storage is refused.
  }
}
