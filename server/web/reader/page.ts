import { Emberline, EmberlineError } from "../client/emberline.ts";
import { el } from "../dom.ts";

const requestLimitMs = 20_000;

/** What readers see is public, and the browser may keep it as long as the service says. */
const service = new Emberline({
  accessToken: () => null,
  credentials: "same-origin",
  cache: "default",
});

/** The body of an answer; a reader is told at once what cannot be read, and may try again. */
export const ask = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  service.call("GET", path, {
    once: true,
    deadlineMs: requestLimitMs,
    ...(signal ? { signal } : {}),
  });

export type QueryValues = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
type QueryValue = string | number | null | undefined;

/** A query without what is empty, with its question mark; a list stands for a name that comes several times. */
export function query(values: QueryValues): string {
  const known = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one == null || one === "" ? [] : [[name, String(one)]])),
  );
  const text = new URLSearchParams(known).toString();
  return text === "" ? "" : `?${text}`;
}

/** A segment of a path; a plus may stand there as it is. */
export const segment = (text: string) => encodeURIComponent(text).replaceAll("%2B", "+");

/** What the address of the page says below its section. */
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

/** What a reader is told of what failed through no fault of the question. */
export function failureCard(error: unknown): HTMLElement {
  const isRefusal = error instanceof EmberlineError && error.status > 0;
  const hint = isRefusal ? `The service says: ${error.code}` : "Try again in a moment.";
  return emptyCard("This did not work just now", hint);
}

/** Names and addresses from the outermost; null where one is already. */
export type Steps = readonly (readonly [name: string, href: string | null])[];

/** Where the reader is. */
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

/** What to say of a refusal, by code of the service. */
export type Refusals = Readonly<Record<string, readonly [title: string, hint: string]>>;

/** Shows what `build` makes, in one step, so that nothing moves afterwards. */
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
