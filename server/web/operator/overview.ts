// A reload would lose focus and selection, and show a browser error page while the service restarts.
const everyMs = 10_000;
const notice = document.querySelector("[role=status]");
let seenAt = new Date();

setTimeout(() => void look(), everyMs);

async function look() {
  await refresh();
  setTimeout(() => void look(), everyMs);
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

/** Replaces the rows that differ; the focus stays on its link. */
function show(page: Document) {
  const fresh = page.querySelectorAll("tbody");
  document.querySelectorAll("tbody").forEach((body, i) => {
    const next = fresh[i];
    if (next === undefined || next.isEqualNode(body)) return;
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    const href = focused?.getAttribute("href");
    body.replaceChildren(...next.children);
    if (href) body.querySelector<HTMLElement>(`[href="${href}"]`)?.focus();
  });
}
