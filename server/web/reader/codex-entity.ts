import { el } from "../dom.ts";
import { placeLine, readGame, type Place } from "./codex-place.ts";
import { readState, readSteps, stepAt, whyNoStep, type State, type Steps } from "./codex-states.ts";
import { differences, linksCard, mediaCard, dataCard } from "./codex-state-cards.ts";
import { timeline } from "./codex-timeline.ts";
import { emptyCard, failureCard, setTitle } from "./page.ts";
import { iconNode } from "./pieces.ts";
import { nameOfId, plural, shortTag } from "./words.ts";

/**
 * The page of an entity: a slider over the patches that changed it, its data at one of them, and the
 * differences from another one. The address contains both (`at`, `with`).
 */
export async function entityView(place: Place, id: string): Promise<Node[]> {
  const [game, steps] = await Promise.all([readGame(place), readSteps(place, id)]);
  const asked = new URLSearchParams(location.search);
  let at = stepAt(steps, asked.get("at")) ?? steps.list.length - 1;
  let other = stepAt(steps, asked.get("with"));
  const key = steps.id;
  const type = key.split(".")[1] ?? "";
  const head = el("header", { class: "head hero-head" });
  const body = el("div", { class: "with-side" });
  const missed = missedNote(steps, asked);
  const said = el("p", { class: "unseen", "aria-live": "polite" });

  const show = (state: State) => {
    const name = state.entity?.name ?? state.before?.name ?? nameOfId(key);
    setTitle(`${name} · ${game.display_name}`);
    head.replaceChildren(...headOf(place, state, name, key));
    body.replaceChildren(...bodyOf(place, state));
    line.querySelector("[aria-current]")?.replaceChildren(name);
  };
  let running = new AbortController();
  const move = async (to: number, compared: number | null) => {
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

/** A note about a requested state that cannot be shown, until the user chooses another. */
function missedNote(steps: Steps, asked: URLSearchParams): HTMLElement {
  const note = (name: string, instead: string) => {
    const why = whyNoStep(steps, asked.get(name));
    return why === null ? null : el("p", { class: "card quiet" }, `${why} ${instead}`);
  };
  return el(
    "div",
    {},
    note("at", "What you see is the newest state."),
    note("with", "What you see is compared with the state before."),
  );
}

function keepAddress(steps: Steps, at: number, other: number | null): void {
  const address = new URL(location.href);
  const set = (name: string, value: string | undefined) =>
    value === undefined ? address.searchParams.delete(name) : address.searchParams.set(name, value);
  set("at", at === steps.list.length - 1 ? undefined : steps.list[at]?.version);
  set("with", other === null ? undefined : steps.list[other]?.version);
  history.replaceState(null, "", address);
}

function headOf(place: Place, state: State, name: string, key: string): HTMLElement[] {
  const shown = state.entity ?? state.before;
  const { tags = [], type = "", upstream_key: upstreamKey = null } = shown ?? {};
  const chips = tags.map((tag) =>
    el(
      "li",
      {},
      el(
        "a",
        { class: "chip", href: place.page(type, { "filter[tags]": tag }), title: tag },
        shortTag(tag),
      ),
    ),
  );
  return [
    iconNode(shown?.icon ?? null, name, 96),
    el(
      "div",
      {},
      el("h1", {}, name),
      el(
        "p",
        { class: "quiet ids" },
        el("code", {}, key),
        upstreamKey && upstreamKey !== key ? el("code", {}, upstreamKey) : null,
      ),
      chips.length > 0 ? el("ul", { class: "plain chips" }, ...chips) : null,
    ),
  ];
}

function bodyOf(place: Place, state: State): HTMLElement[] {
  const { entity, step } = state;
  const data = entity
    ? dataCard(place, state, entity)
    : emptyCard("Removed", `It is not in the game as of patch ${step.raw}.`);
  const main = el("div", {}, differences(place, state), data);
  const side = entity
    ? el("aside", {}, linksCard(place, entity, step), mediaCard(entity))
    : el("aside", {});
  return side.childElementCount === 0 ? [el("div", { class: "only" }, main)] : [main, side];
}
