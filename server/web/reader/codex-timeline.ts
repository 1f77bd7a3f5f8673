import { el } from "../dom.ts";
import { comparedStep, type Step, type Steps } from "./codex-states.ts";
import { chooser, labelled } from "./pieces.ts";
import { counted } from "./words.ts";

/** Maximum number of states with version labels under the slider. */
const maxLabels = 9;

/**
 * The slider over the states of an entity, with buttons and the choice of the compared state. Arrow keys,
 * Home and End move it.
 */
export function timeline(
  steps: Steps,
  at: number,
  other: number | null,
  onMove: (at: number, other: number | null) => void,
): HTMLElement {
  const { list, head } = steps;
  const last = list.length - 1;
  let [now, compared] = [at, other];
  const version = el("strong", {});
  const fact = el("span", { class: "quiet" });
  const slider = el("input", {
    type: "range",
    min: 0,
    max: Math.max(last, 1),
    value: at,
    step: 1,
    "aria-label": "Patch",
    disabled: last === 0,
    oninput: () => go(Number(slider.value)),
  });
  const back = el(
    "button",
    { type: "button", "aria-label": "State before", onclick: () => go(now - 1) },
    "‹",
  );
  const forth = el(
    "button",
    { type: "button", "aria-label": "State after", onclick: () => go(now + 1) },
    "›",
  );
  const choice = el("span", {});

  function paint() {
    const step = list[now];
    if (!step) return;
    version.textContent = `Patch ${step.raw}`;
    const state = step.isRemoved ? "removed" : now === 0 ? "first seen" : "changed";
    const present =
      now === last && !step.isRemoved && step.raw !== head ? `, unchanged up to ${head}` : "";
    fact.textContent = `${step.day} · ${state}${present}`;
    slider.value = String(now);
    slider.setAttribute("aria-valuetext", `${step.raw}, ${step.day}, ${state}`);
    slider.style.setProperty("--at", String(last === 0 ? 1 : now / last));
    back.disabled = now === 0;
    forth.disabled = now === last;
    paintChoice();
  }
  function paintChoice() {
    const focused = choice.contains(document.activeElement);
    const choices = list.flatMap((step, index) =>
      index === now ? [] : [[String(index), step.raw] as const],
    );
    if (choices.length === 0) return choice.replaceChildren();
    const chosen = String(comparedStep(now, compared));
    const first = now === 0 && chosen === "-1" ? [["-1", "nothing"] as const] : [];
    const select = chooser([...first, ...choices], chosen, (value) => {
      compared = value === String(now - 1) ? null : Number(value);
      onMove(now, compared);
    });
    choice.replaceChildren(labelled("Compared with", select));
    if (focused) select.focus();
  }
  function go(to: number) {
    if (to < 0 || to > last || to === now) return;
    now = to;
    if (compared === now) compared = null;
    paint();
    onMove(now, compared);
  }
  paint();
  return el(
    "section",
    { class: "card timeline", "aria-label": "Patches of this entry" },
    el(
      "div",
      { class: "timeline-head" },
      el("div", {}, el("p", { class: "timeline-at" }, version), el("p", {}, fact)),
      choice,
      el("span", { class: "steps" }, back, forth),
    ),
    last > 0 ? el("div", { class: "track" }, slider, ticks(list)) : null,
    el("p", { class: "quiet small" }, counted(list.length, "state"), " kept"),
  );
}

function ticks(list: readonly Step[]): HTMLElement {
  const isLabelled = (index: number) =>
    list.length <= maxLabels || index === 0 || index === list.length - 1;
  const marks = list.map((step, index) =>
    el(
      "span",
      { class: step.isRemoved ? "gone" : null },
      el("i", {}),
      isLabelled(index) ? el("b", {}, step.raw) : null,
    ),
  );
  return el("div", { class: "ticks", "aria-hidden": "true" }, ...marks);
}
