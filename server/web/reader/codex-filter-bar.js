import { seenFields } from "./codex-columns.js";
import { operators, stateOf } from "./codex-filters.js";
import { make } from "./page.js";
import { chooser, labelled } from "./pieces.js";
import { fieldName, shortTag } from "./words.js";

/** Quiet time after a key before the list is asked for. */
const typingMs = 180;
/** Values offered for a field. */
const maxOffered = 40;

/** @typedef {import("./codex-filters.js").ListState} ListState */

/**
 * Search, the filters that hold, and a form for one more. What can be chosen is what the first rows have.
 * @param {ListState} first @param {any[]} entities @param {(state: ListState, isStep: boolean) => void} onChange
 */
export function filterBar(first, entities, onChange) {
  let state = first;
  const seen = seenFields(entities);
  const chips = make("ul", { class: "plain chips" });
  const search = make("input", {
    type: "search",
    placeholder: "Name or description",
    maxlength: 128,
    value: state.q,
    "aria-label": "Search",
    "aria-keyshortcuts": "/",
    input: () => {
      clearTimeout(timer);
      timer = setTimeout(() => set(search.value.trim(), state.filters, false), typingMs);
    },
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const set = (
    /** @type {string} */ q,
    /** @type {ListState["filters"]} */ filters,
    /** @type {boolean} */ isStep,
  ) => {
    state = stateOf(q, filters);
    paint(state);
    onChange(state, isStep);
  };
  const paint = (/** @type {ListState} */ next) => {
    state = next;
    if (search.value.trim() !== state.q) search.value = state.q;
    chips.replaceChildren(...state.filters.map((filter) => chipOf(filter, remove)));
    chips.hidden = state.filters.length === 0;
  };
  const remove = (/** @type {ListState["filters"][number]} */ gone) => {
    set(
      state.q,
      state.filters.filter((one) => one !== gone),
      true,
    );
    search.focus();
  };
  const add = (/** @type {ListState["filters"][number]} */ filter) => {
    // A field has one value, an entity has several tags.
    const isSame = (/** @type {typeof filter} */ one) =>
      one.path === filter.path &&
      one.op === filter.op &&
      (one.path !== "tags" || one.value === filter.value);
    set(state.q, [...state.filters.filter((one) => !isSame(one)), filter], true);
  };
  addEventListener("keydown", (event) => {
    const isTyping =
      event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    search.focus();
  });
  paint(state);
  const node = make(
    "section",
    { class: "card filters", "aria-label": "Search and filters" },
    make("div", { class: "filter-search" }, search),
    addForm(seen, add),
    chips,
  );
  return { node, paint };
}

/** @param {ListState["filters"][number]} filter @param {(filter: ListState["filters"][number]) => void} onRemove */
function chipOf(filter, onRemove) {
  const sign = operators.find(([op]) => op === filter.op)?.[1] ?? filter.op;
  const text = `${fieldName(filter.path)} ${sign} ${shortTag(filter.value)}`;
  const button = make(
    "button",
    {
      type: "button",
      class: "chip on",
      "aria-label": `Remove: ${text}`,
      click: () => onRemove(filter),
    },
    text,
    make("span", { "aria-hidden": "true" }, "×"),
  );
  return make("li", {}, button);
}

/** @param {ReturnType<typeof seenFields>} seen @param {(filter: ListState["filters"][number]) => void} onAdd */
function addForm(seen, onAdd) {
  const paths = ["tags", ...seen.keys()];
  const offered = make("datalist", { id: "offered" });
  const value = make("input", { list: "offered", required: true, autocomplete: "off" });
  let [path, op] = ["tags", "eq"];
  const offer = () => {
    const values = [...(seen.get(path)?.values ?? [])].slice(0, maxOffered);
    offered.replaceChildren(...values.map((one) => make("option", { value: String(one) })));
  };
  const choices = paths.map((one) => /** @type {[string, string]} */ ([one, fieldName(one)]));
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    onAdd({ path, op, value: value.value });
    value.value = "";
  };
  offer();
  return make(
    "form",
    { class: "filter-form", submit },
    labelled(
      "Field",
      chooser(choices, path, (chosen) => ((path = chosen), offer())),
    ),
    labelled(
      "Is",
      chooser(operators, op, (chosen) => (op = chosen)),
    ),
    labelled("Value", value),
    offered,
    make("button", {}, "Filter"),
  );
}
