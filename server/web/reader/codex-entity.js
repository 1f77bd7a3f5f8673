import { placeLine, readGame } from "./codex-place.js";
import { readState, readSteps, stepAt, whyNoStep } from "./codex-states.js";
import { differences, linksCard, mediaCard, dataCard } from "./codex-state-cards.js";
import { timeline } from "./codex-timeline.js";
import { emptyCard, failureCard, make, setTitle } from "./page.js";
import { iconNode } from "./pieces.js";
import { nameOfId, plural, shortTag } from "./words.js";

/** @typedef {import("./codex-place.js").Place} Place */
/** @typedef {import("./codex-states.js").State} State */

/**
 * One entity: a slider over the patches that changed it, its data as it was then, and what differs from another
 * of its states. Which two is in the address (`at`, `with`).
 * @param {Place} place @param {string} id
 */
export async function entityView(place, id) {
  const [game, steps] = await Promise.all([readGame(place), readSteps(place, id)]);
  const asked = new URLSearchParams(location.search);
  let at = stepAt(steps, asked.get("at")) ?? steps.list.length - 1;
  let other = stepAt(steps, asked.get("with"));
  const key = steps.id;
  const type = key.split(".")[1] ?? "";
  const head = make("header", { class: "head hero-head" });
  const body = make("div", { class: "with-side" });
  const missed = missedNote(steps, asked);
  const said = make("p", { class: "unseen", "aria-live": "polite" });

  /** @param {State} state */
  const show = (state) => {
    const name = state.entity?.name ?? state.before?.name ?? nameOfId(key);
    setTitle(`${name} · ${game.display_name}`);
    head.replaceChildren(...headOf(place, state, name, key));
    body.replaceChildren(...bodyOf(place, state));
    line.querySelector("[aria-current]")?.replaceChildren(name);
  };
  let running = new AbortController();
  const move = async (/** @type {number} */ to, /** @type {number | null} */ compared) => {
    [at, other] = [to, compared];
    running.abort();
    running = new AbortController();
    const { signal } = running;
    keepAddress(steps, at, other);
    missed.replaceChildren();
    try {
      const state = await readState(place, steps, at, other, signal);
      if (signal.aborted) return;
      show(state);
      said.textContent = state.summary;
    } catch (error) {
      if (!signal.aborted) body.replaceChildren(failureCard(error));
    }
  };
  const first = await readState(place, steps, at, other);
  const line = placeLine(place, game, [
    [plural(type), place.page(type)],
    [nameOfId(key), null],
  ]);
  show(first);
  return [
    line,
    head,
    missed,
    timeline(steps, at, other, (to, compared) => void move(to, compared)),
    said,
    body,
  ];
}

/** What the address asks for and the page cannot show, until the reader chooses. @param {import("./codex-states.js").Steps} steps @param {URLSearchParams} asked */
function missedNote(steps, asked) {
  const [at, other] = ["at", "with"].map((name) => whyNoStep(steps, asked.get(name)));
  const notes = [
    at && `${at} What you see is the newest state.`,
    other && `${other} What you see is compared with the state before.`,
  ].filter((note) => note);
  return make("div", {}, ...notes.map((note) => make("p", { class: "card quiet" }, note)));
}

/** @param {import("./codex-states.js").Steps} steps @param {number} at @param {number | null} other */
function keepAddress(steps, at, other) {
  const address = new URL(location.href);
  const set = (/** @type {string} */ name, /** @type {string | undefined} */ value) =>
    value === undefined ? address.searchParams.delete(name) : address.searchParams.set(name, value);
  set("at", at === steps.list.length - 1 ? undefined : steps.list[at]?.version);
  set("with", other === null ? undefined : steps.list[other]?.version);
  history.replaceState(null, "", address);
}

/** @param {Place} place @param {State} state @param {string} name @param {string} key */
function headOf(place, state, name, key) {
  const shown = state.entity ?? state.before;
  const tags = (shown?.tags ?? []).map((/** @type {string} */ tag) =>
    make(
      "li",
      {},
      make(
        "a",
        { class: "chip", href: place.page(shown.type, { "filter[tags]": tag }), title: tag },
        shortTag(tag),
      ),
    ),
  );
  return [
    iconNode(shown?.icon ?? null, name, 96),
    make(
      "div",
      {},
      make("h1", {}, name),
      make(
        "p",
        { class: "quiet ids" },
        make("code", {}, key),
        shown?.upstream_key && shown.upstream_key !== key && make("code", {}, shown.upstream_key),
      ),
      tags.length > 0 && make("ul", { class: "plain chips" }, ...tags),
    ),
  ];
}

/** @param {Place} place @param {State} state */
function bodyOf(place, state) {
  const main = make("div", {}, ...differences(place, state));
  if (state.entity === null)
    main.append(emptyCard("Removed", `It is not in the game as of patch ${state.step.raw}.`));
  else main.append(dataCard(place, state));
  const side = make("aside", {});
  if (state.entity) side.append(...linksCard(place, state), ...mediaCard(state.entity));
  return side.childElementCount === 0 ? [make("div", { class: "only" }, main)] : [main, side];
}
