// A page within another page: what it says to its parent, and what the parent may ask of it.
//
// Everything that comes in is checked; nothing that goes out is a secret, so it may go to any parent.

const FORMAT = 1;
const parent = window.parent;
const say = (message) => parent.postMessage(message, "*");
const tell = (event, detail) => say({ leaseLab: FORMAT, event, detail });

// The height, for parents that fit the frame to it.
let height;
const measure = () => {
  const now = Math.ceil(document.documentElement.getBoundingClientRect().height);
  if (now !== height) say({ subject: "lti.frameResize", height: (height = now) });
};
new ResizeObserver(measure).observe(document.documentElement);
measure();

const seconds = (value) => {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw new Error(`${String(value).slice(0, 60)} is no instant; expected seconds from 0 on`);
  }
  return value;
};
const words = (value) => {
  if (typeof value !== "string" || value.length > 16384) {
    throw new Error("this is no intervention; expected a text such as 4 pause A 15");
  }
  return value;
};
const lab = () => {
  if (!window.leaseLab?.seek) throw new Error("this page has no lab that could be moved");
  return window.leaseLab;
};
const methods = {
  play: () => lab().play(),
  pause: () => lab().pause(),
  seek: (value) => lab().seek(seconds(value)),
  intervene: (value) => lab().intervene(words(value)),
  state: () => lab().state(),
};
// A learning system that keeps states answers the question for one; see cssplice.org.
const asked = crypto.randomUUID?.() ?? `lease-lab-${Math.random()}`;
addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data !== "object" || data === null) return;
  if (data.subject === "SPLICE.getState.response" && data.message_id === asked) {
    if (typeof data.state?.progress === "string") window.leaseLab?.restore?.(data.state.progress);
    return;
  }
  if (data.leaseLab !== FORMAT || typeof data.method !== "string") return;
  const answer = { leaseLab: FORMAT, answer: data.id };
  try {
    const method = Object.hasOwn(methods, data.method) ? methods[data.method] : undefined;
    if (!method) throw new Error(`there is no method ${data.method.slice(0, 60)}; expected ${Object.keys(methods).join(", ")}`);
    say({ ...answer, value: method(data.value) ?? null });
  } catch (error) {
    const message = String(error?.message ?? error);
    say({ ...answer, error: message });
    tell("error", { message });
  }
});

// In a sandbox without forms the browser drops what a form is for; here no form ever leaves the page, so it is told.
addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (button?.type !== "submit" || !button.form || button.form.method === "dialog") return;
  event.preventDefault();
  button.form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter: button }));
});

addEventListener("lease-lab-step", ({ detail }) => tell("step", detail));
addEventListener("lease-lab-answer", ({ detail }) => {
  tell("answer", detail);
  const { drill, right, score, total, progress } = detail;
  const message_id = crypto.randomUUID?.() ?? `lease-lab-${Math.random()}`;
  say({ subject: "SPLICE.reportScoreAndState", message_id, score: total / 100, state: { drill, progress } });
  say({ subject: "SPLICE.sendEvent", message_id: `${message_id}-event`, name: "answer", data: { drill, right, score: score / 100 } });
});
addEventListener("error", ({ message }) => tell("error", { message: String(message) }));

/** Called once the page can be used. */
export const ready = () => {
  if (new URLSearchParams(location.search).has("drill")) say({ subject: "SPLICE.getState", message_id: asked });
  tell("ready", {});
  measure();
};
