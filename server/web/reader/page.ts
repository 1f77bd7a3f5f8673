import { Emberline, EmberlineError } from "../client/emberline.ts";
import { el } from "../dom.ts";

const requestLimitMs = 20_000;

/** The data is public, and the browser may cache it as the service permits. */
const service = new Emberline({
  accessToken: () => null,
  credentials: "same-origin",
  cache: "default",
});

/** Reads the body of a response. Fails early, so that the user can retry. */
export const ask = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  service.call("GET", path, {
    once: true,
    deadlineMs: requestLimitMs,
    ...(signal ? { signal } : {}),
  });

export type QueryValues = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
type QueryValue = string | number | null | undefined;

/** A query string without empty values, including its question mark; a list repeats its parameter. */
export function query(values: QueryValues): string {
  const known = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one == null || one === "" ? [] : [[name, String(one)]])),
  );
  const text = new URLSearchParams(known).toString();
  return text === "" ? "" : `?${text}`;
}

/** A path segment; a plus needs no escape there. */
export const segment = (text: string) => encodeURIComponent(text).replaceAll("%2B", "+");

/** The path segments of the page below its section. */
export const segmentsHere = (): string[] =>
  location.pathname
    .split("/")
    .slice(2)
    .filter((text) => text !== "")
    .map((text) => {
      try {
        return decodeURIComponent(text);
      } catch {
        return text;
      }
    });

export function emptyCard(text: string, hint = ""): HTMLElement {
  return el(
    "div",
    { class: "card empty", role: "status" },
    el("h2", {}, text),
    hint === "" ? null : el("p", { class: "quiet" }, hint),
  );
}

/** Explains a failure that the user did not cause. */
export function failureCard(error: unknown): HTMLElement {
  const isRefusal = error instanceof EmberlineError && error.status > 0;
  const hint = isRefusal ? `The service says: ${error.code}` : "Try again in a moment.";
  return emptyCard("This did not work just now", hint);
}

/** Names and addresses from the outermost level; null for the current page. */
export type Steps = readonly (readonly [name: string, href: string | null])[];

/** Breadcrumb navigation. */
export function trail(steps: Steps): HTMLElement {
  const items = steps.map(([text, href], index) =>
    el(
      "li",
      {},
      href === null || index === steps.length - 1
        ? el("span", { "aria-current": "page" }, text)
        : el("a", { href }, text),
    ),
  );
  return el("nav", { class: "trail", "aria-label": "You are here" }, el("ol", {}, ...items));
}

export function setTitle(title: string): void {
  document.title = `${title} · emberline`;
}

/** Explanations of refusals by error code. */
export type Refusals = Readonly<Record<string, readonly [title: string, hint: string]>>;

/** Renders the result of `build` in one step, so that nothing moves afterwards. */
export async function showPage(build: () => Promise<Node[]>, refusals: Refusals): Promise<void> {
  const main = document.querySelector("main");
  try {
    main?.replaceChildren(...(await build()));
  } catch (error) {
    const known = error instanceof EmberlineError ? refusals[error.code] : undefined;
    const card = known ? emptyCard(...known) : failureCard(error);
    const again = el("button", { type: "button", onclick: () => location.reload() }, "Try again");
    if (!known) card.append(el("p", {}, again));
    main?.replaceChildren(card);
    if (!(error instanceof EmberlineError)) throw error;
  } finally {
    main?.removeAttribute("aria-busy");
  }
}
