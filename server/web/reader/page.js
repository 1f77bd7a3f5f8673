/**
 * An element. Texts of games only ever become text nodes and attribute values, never markup.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} [attributes]
 *   functions listen, null, false and undefined leave the attribute out
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {any}
 */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value != null && value !== false) node.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child instanceof Node) node.append(child);
    else if (child != null && child !== false) node.append(String(child));
  }
  return node;
}

/** What the service refused, with its code. */
export class Refusal extends Error {
  /** @param {number} status @param {string} code @param {Record<string, unknown>} params */
  constructor(status, code, params = {}) {
    super(code);
    this.status = status;
    this.code = code;
    this.params = params;
  }
}

const requestLimitMs = 20_000;

/** The body of an answer; throws a Refusal. @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function ask(path, signal) {
  const limit = AbortSignal.timeout(requestLimitMs);
  const response = await fetch(path, { signal: signal ? AbortSignal.any([signal, limit]) : limit });
  const answer = await response.json().catch((error) => {
    // What is not JSON comes from something before us; a request taken back is no answer at all.
    if (error instanceof SyntaxError) return null;
    throw error;
  });
  if (response.ok && answer !== null) return answer.body;
  const [error] = answer?.flash?.errors ?? [];
  throw new Refusal(response.status, error?.code ?? "unknown", error?.params);
}

/** A query without what is empty, with its question mark; a list stands for a name that comes several times. @param {Record<string, unknown>} values */
export function query(values) {
  const known = Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : value == null || value === "" ? [] : [value]).map((one) => [
      name,
      String(one),
    ]),
  );
  const text = new URLSearchParams(known).toString();
  return text === "" ? "" : `?${text}`;
}

/** A segment of a path; a plus may stand there as it is. @param {string} text */
export const segment = (text) => encodeURIComponent(text).replaceAll("%2B", "+");

/** What the address of the page says below its section. @returns {string[]} */
export const segmentsHere = () =>
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

/** @param {string} text @param {string} [hint] */
export function emptyCard(text, hint = "") {
  return make(
    "div",
    { class: "card empty", role: "status" },
    make("h2", {}, text),
    hint !== "" && make("p", { class: "quiet" }, hint),
  );
}

/** What a reader is told of what failed through no fault of the question. @param {unknown} error */
export function failureCard(error) {
  const hint =
    error instanceof Refusal ? `The service says: ${error.code}` : "Try again in a moment.";
  return emptyCard("This did not work just now", hint);
}

/** Where the reader is: names and addresses from the outermost. @param {[string, string | null][]} steps */
export function trail(steps) {
  const items = steps.map(([text, href], index) =>
    make(
      "li",
      {},
      href === null || index === steps.length - 1
        ? make("span", { "aria-current": "page" }, text)
        : make("a", { href }, text),
    ),
  );
  return make("nav", { class: "trail", "aria-label": "You are here" }, make("ol", {}, ...items));
}

/** @param {string} title */
export function setTitle(title) {
  document.title = `${title} · emberline`;
}

/**
 * Shows what `build` makes, in one step, so that nothing moves afterwards.
 * @param {() => Promise<Node[]>} build
 * @param {Readonly<Record<string, [string, string]>>} refusals what to say, by code of the service
 */
export async function showPage(build, refusals) {
  const main = document.querySelector("main");
  try {
    main?.replaceChildren(...(await build()));
  } catch (error) {
    const code = error instanceof Refusal ? error.code : "";
    const again = make("button", { type: "button", click: () => location.reload() }, "Try again");
    const known = refusals[code];
    const card = known ? emptyCard(...known) : failureCard(error);
    if (!known) card.append(make("p", {}, again));
    main?.replaceChildren(card);
    if (!(error instanceof Refusal)) throw error;
  } finally {
    main?.removeAttribute("aria-busy");
  }
}
