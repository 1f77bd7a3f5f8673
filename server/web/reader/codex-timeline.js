import { make } from "./page.js";
import { chooser, labelled } from "./pieces.js";
import { comparedStep } from "./codex-states.js";
import { counted } from "./words.js";

/** Versions written under the slider when there are no more than these. */
const maxLabels = 9;

/**
 * The slider over the states of an entity, with buttons and a choice of what to compare with. Arrow keys, Home and
 * End move it.
 * @param {import("./codex-states.js").Steps} steps @param {number} at @param {number | null} other
 * @param {(at: number, other: number | null) => void} onMove
 */
export function timeline(steps, at, other, onMove) {
  const { list, head } = steps;
  const last = list.length - 1;
  let [now, compared] = [at, other];
  const version = make("strong", {});
  const fact = make("span", { class: "quiet" });
  const slider = make("input", {
    type: "range",
    min: 0,
    max: Math.max(last, 1),
    value: at,
    step: 1,
    "aria-label": "Patch",
    disabled: last === 0,
    input: () => go(Number(slider.value)),
  });
  const back = make(
    "button",
    { type: "button", "aria-label": "State before", click: () => go(now - 1) },
    "‹",
  );
  const forth = make(
    "button",
    { type: "button", "aria-label": "State after", click: () => go(now + 1) },
    "›",
  );
  const choice = make("span", {});

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
      index === now ? [] : [/** @type {[string, string]} */ ([String(index), step.raw])],
    );
    if (choices.length === 0) return choice.replaceChildren();
    const chosen = String(comparedStep(now, compared));
    const first =
      now === 0 && chosen === "-1" ? [/** @type {[string, string]} */ (["-1", "nothing"])] : [];
    const select = chooser([...first, ...choices], chosen, (value) => {
      compared = value === String(now - 1) ? null : Number(value);
      onMove(now, compared);
    });
    choice.replaceChildren(labelled("Compared with", select));
    if (focused) select.focus();
  }
  function go(/** @type {number} */ to) {
    if (to < 0 || to > last || to === now) return;
    now = to;
    if (compared === now) compared = null;
    paint();
    onMove(now, compared);
  }
  paint();
  return make(
    "section",
    { class: "card timeline", "aria-label": "Patches of this entry" },
    make(
      "div",
      { class: "timeline-head" },
      make("div", {}, make("p", { class: "timeline-at" }, version), make("p", {}, fact)),
      choice,
      make("span", { class: "steps" }, back, forth),
    ),
    last > 0 ? make("div", { class: "track" }, slider, ticks(list)) : "",
    make("p", { class: "quiet small" }, counted(list.length, "state"), " kept"),
  );
}

/** @param {import("./codex-states.js").Step[]} list */
function ticks(list) {
  const isNotified = (/** @type {number} */ index) =>
    list.length <= maxLabels || index === 0 || index === list.length - 1;
  const marks = list.map((step, index) =>
    make(
      "span",
      { class: step.isRemoved && "gone" },
      make("i", {}),
      isNotified(index) && make("b", {}, step.raw),
    ),
  );
  return make("div", { class: "ticks", "aria-hidden": "true" }, ...marks);
}
