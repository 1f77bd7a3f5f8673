import { Idiomorph } from "idiomorph";

// A reload would lose focus, selection and open parts, and show a browser error page while the service restarts.
const content = document.querySelector("main");
const notice = document.querySelector("[role=status]");
const paced = document.querySelector<HTMLElement>("[data-refresh-seconds]");
const everyMs = Number(paced?.dataset["refreshSeconds"] ?? 0) * 1_000;
let seenAt = new Date();
let timer = 0;

if (content !== null && everyMs > 0) {
  timer = setTimeout(look, everyMs);
  // Nobody sees a hidden tab: it asks for nothing until it is shown again.
  document.addEventListener("visibilitychange", look);
}

function look() {
  clearTimeout(timer);
  if (document.hidden) return;
  void refresh().finally(() => (timer = setTimeout(look, everyMs)));
}

/** Fetches this page again; it is HTML, so it does not go through the API client. */
async function refresh() {
  try {
    const headers = { Accept: "text/html" };
    const answer = await fetch(location.href, { headers, signal: AbortSignal.timeout(everyMs) });
    // The session has ended.
    if (answer.redirected) return location.reload();
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    seenAt = new Date();
    say("");
  } catch {
    const time = seenAt.toLocaleTimeString(undefined, { hour12: false });
    say(`No response. Last update: ${time}.`);
  }
}

function say(text: string) {
  if (notice) notice.textContent = text;
}

/** Changes only what differs. What the operator types, has opened or has focused stays. */
function show(page: Document) {
  const next = page.querySelector("main");
  if (content === null || next === null) return;
  void Idiomorph.morph(content, [...next.childNodes], {
    morphStyle: "innerHTML",
    restoreFocus: true,
    callbacks: {
      beforeNodeMorphed: (node) => !(node instanceof HTMLFormElement && isInUse(node)),
      beforeNodeRemoved: (node) => !(node instanceof HTMLFormElement && isInUse(node)),
      beforeAttributeUpdated: (name, node) =>
        !(name === "open" && node instanceof HTMLDetailsElement),
    },
  });
}

/** True for a form with the focus or with a field that was changed. */
function isInUse(form: HTMLFormElement): boolean {
  if (form.contains(document.activeElement) && document.activeElement?.tagName !== "BUTTON")
    return true;
  return [...form.elements].some((field) => {
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    if (!(field instanceof HTMLInputElement)) return false;
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  });
}
