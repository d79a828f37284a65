// Keeps the page for later visits without a network.
//
// The names of all files but the page itself carry a hash of their content, so what belongs together stays together:
// the page asks for exactly the files that it was built with, and each of them is either there as it was or not at all.
const VERSION = "lease-lab-{{version}}";
const FILES = {{files}};
const HOME = new URL("./", self.location).href;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(VERSION)
      .then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: "no-cache" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith("lease-lab-") && name !== VERSION;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(HOME)) return;
  const path = request.url.slice(HOME.length).split(/[?#]/)[0];
  if (path === "" || path === "index.html") {
    // The page itself: as it is now, and without a network as it was last.
    event.respondWith(fetch(request).catch(() => caches.match("index.html", { cacheName: VERSION })));
  } else if (FILES.includes(path) && /-[0-9a-f]{8}\./.test(path)) {
    event.respondWith(caches.match(path, { cacheName: VERSION }).then((kept) => kept ?? fetch(request)));
  }
});
