// A reload would take the focus and the selection away, and end at a browser's error page while the service restarts.
const everyMs = 10_000;
const notice = /** @type {HTMLElement} */ (document.querySelector("[role=status]"));
let seenAt = new Date();

setTimeout(look, everyMs);

async function look() {
  await refresh();
  setTimeout(look, everyMs);
}

async function refresh() {
  try {
    const headers = { Accept: "text/html" };
    const answer = await fetch(location.href, { headers, signal: AbortSignal.timeout(everyMs) });
    // The session has ended.
    if (answer.redirected) return location.reload();
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    show(await answer.text());
    seenAt = new Date();
    notice.textContent = "";
  } catch {
    const time = seenAt.toLocaleTimeString(undefined, { hour12: false });
    notice.textContent = `No answer: this is how it was at ${time}.`;
  }
}

/** Takes over the rows that differ; the focus stays on its link. @param {string} html */
function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelectorAll("tbody");
  document.querySelectorAll("tbody").forEach((body, i) => {
    const next = fresh[i];
    if (next === undefined || next.innerHTML === body.innerHTML) return;
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    const href = focused?.getAttribute("href");
    body.replaceChildren(...next.children);
    if (href) /** @type {HTMLElement | null} */ (body.querySelector(`[href="${href}"]`))?.focus();
  });
}
