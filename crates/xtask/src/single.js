// Starts the page that is one file: everything is in it, nothing is fetched.
const bytes = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
const load = async (name) => {
  const address = URL.createObjectURL(new Blob([bytes(`${name}-js`)], { type: "text/javascript" }));
  const module = await import(address);
  await module.default({ module_or_path: bytes(`${name}-wasm`) });
  return module;
};
const query = new URLSearchParams(location.search);
if (query.has("drill") || (query.get("lab") ?? "billing-story") !== "billing-story") document.documentElement.dataset.lab = "";
let chart;
window.leaseLabChart = (canvas) =>
  new Promise((resolve, reject) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          observer.disconnect();
          (chart ??= load("chart")).then(resolve, reject);
        }
      },
      { rootMargin: "400px" },
    );
    observer.observe(canvas);
  });
load("labs").catch((error) => {
  document.documentElement.dataset.boot = "failed";
  throw error;
});
