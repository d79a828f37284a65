// Starts the page. A file of its own, because a strict content security policy allows no inline script.
try {
  const { default: init } = await import("./{{js}}");
  await init({ module_or_path: new URL("./{{wasm}}", import.meta.url) });
} catch (error) {
  // The style sheet can show a message instead of a blank page.
  document.documentElement.dataset.boot = "failed";
  throw error;
}
