// <lease-lab lab="zombie" controls="transport"></lease-lab>: a lab of Lease Lab in any page.
//
// Attributes: lab, drill, then, do, off, t, view, seed, ghost, with, theme, lang, controls (full, transport, none), and
// heading, which names the frame. Methods, each giving a promise: play(), pause(), seek(seconds), intervene(text),
// state(). Events: ready, step, answer, error; what they tell is in their detail.
//
// A plain script, so that it can come from anywhere: <script async src="…/lease-lab.js"></script>

(() => {
  const FORMAT = 1;
  const HOME = new URL("./", document.currentScript.src);
  const PARAMETERS = ["lab", "drill", "then", "do", "off", "t", "view", "seed", "ghost", "with", "theme", "lang", "controls"];
  const HEIGHTS = { full: 900, transport: 620, none: 520 };
  const NAMES = new Set(["ready", "step", "answer", "error"]);

  class LeaseLab extends HTMLElement {
    static observedAttributes = [...PARAMETERS, "heading"];
    #frame = document.createElement("iframe");
    #seen;
    #loaded = false;
    #next = 1;
    #waiting = new Map();
    #ready;
    #isReady;

    constructor() {
      super();
      this.#expectReady();
      // Set one by one: a page may allow no style sheets but its own.
      Object.assign(this.#frame.style, { display: "block", width: "100%", border: "0" });
    }

    connectedCallback() {
      addEventListener("message", this.#hear);
      if (!this.style.display) this.style.display = "block";
      // Not in a shadow tree: frames there cannot find each other, to share what is compiled.
      if (this.#frame.parentNode !== this) this.replaceChildren(this.#frame);
      this.#name();
      this.#frame.style.height = `${HEIGHTS[this.getAttribute("controls")] ?? HEIGHTS.full}px`;
      // Nothing is loaded before the reader comes near it.
      this.#seen = new IntersectionObserver(
        (entries) => {
          if (entries.some((entry) => entry.isIntersecting)) {
            this.#seen.disconnect();
            this.#load();
          }
        },
        { rootMargin: "300px" },
      );
      this.#seen.observe(this);
    }

    disconnectedCallback() {
      removeEventListener("message", this.#hear);
      this.#seen?.disconnect();
      this.#loaded = false;
      this.#expectReady();
    }

    attributeChangedCallback(name, before, now) {
      if (name === "heading") this.#name();
      else if (this.#loaded && before !== now) {
        this.#expectReady();
        this.#load();
      }
    }

    play() {
      return this.#ask("play");
    }
    pause() {
      return this.#ask("pause");
    }
    seek(seconds) {
      return this.#ask("seek", seconds);
    }
    intervene(text) {
      return this.#ask("intervene", text);
    }
    state() {
      return this.#ask("state");
    }

    #expectReady() {
      this.#ready = new Promise((resolve) => (this.#isReady = resolve));
    }

    #name() {
      const what = this.getAttribute("lab") ?? this.getAttribute("drill") ?? "billing-story";
      this.#frame.title = this.getAttribute("heading") ?? `Lease Lab: ${what}`;
    }

    #load() {
      const address = new URL("index.html", HOME);
      for (const name of PARAMETERS) {
        if (this.hasAttribute(name)) address.searchParams.set(name, this.getAttribute(name));
      }
      address.searchParams.set("embed", "1");
      this.#loaded = true;
      this.#frame.src = address;
    }

    async #ask(method, value) {
      await this.#ready;
      return new Promise((resolve, reject) => {
        const id = this.#next++;
        this.#waiting.set(id, { resolve, reject });
        this.#frame.contentWindow.postMessage({ leaseLab: FORMAT, id, method, value }, HOME.origin);
      });
    }

    #hear = ({ source, origin, data }) => {
      if (source !== this.#frame.contentWindow || origin !== HOME.origin || typeof data !== "object" || data === null) return;
      if (data.subject === "lti.frameResize") {
        if (Number.isFinite(data.height) && data.height > 0) this.#frame.style.height = `${Math.min(data.height, 20000)}px`;
        return;
      }
      if (data.leaseLab !== FORMAT) return;
      if (this.#waiting.has(data.answer)) {
        const { resolve, reject } = this.#waiting.get(data.answer);
        this.#waiting.delete(data.answer);
        if (typeof data.error === "string") reject(new Error(data.error));
        else resolve(data.value);
      } else if (NAMES.has(data.event)) {
        if (data.event === "ready") this.#isReady();
        this.dispatchEvent(new CustomEvent(data.event, { detail: data.detail }));
      }
    };
  }

  if (!customElements.get("lease-lab")) customElements.define("lease-lab", LeaseLab);
})();
