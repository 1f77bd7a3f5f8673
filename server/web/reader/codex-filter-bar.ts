import type { Entity } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { seenFields, type SeenFields } from "./codex-columns.ts";
import { operators, stateOf, type Filter, type ListState } from "./codex-filters.ts";
import { chooser, labelled } from "./pieces.ts";
import { fieldName, shortTag } from "./words.ts";

/** Delay between the last key press and the request. */
const typingMs = 180;
/** Maximum number of values suggested for a field. */
const maxOffered = 40;

interface FilterBar {
  node: HTMLElement;
  /** Renders another state without an event. */
  paint: (state: ListState) => void;
}

/** Search, active filters, and a form for a new one. The choices come from the first rows. */
export function filterBar(
  first: ListState,
  entities: readonly Entity[],
  onChange: (state: ListState, isStep: boolean) => void,
): FilterBar {
  let state = first;
  const seen = seenFields(entities);
  const chips = el("ul", { class: "plain chips" });
  const search = el("input", {
    type: "search",
    placeholder: "Name or description",
    maxLength: 128,
    value: state.q,
    "aria-label": "Search",
    "aria-keyshortcuts": "/",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => set(search.value.trim(), state.filters, false), typingMs);
    },
  });
  let timer: number | undefined;
  const set = (q: string, filters: readonly Filter[], isStep: boolean) => {
    state = stateOf(q, filters);
    paint(state);
    onChange(state, isStep);
  };
  const paint = (next: ListState) => {
    state = next;
    if (search.value.trim() !== state.q) search.value = state.q;
    chips.replaceChildren(...state.filters.map((filter) => chipOf(filter, remove)));
    chips.hidden = state.filters.length === 0;
  };
  const remove = (gone: Filter) => {
    set(
      state.q,
      state.filters.filter((one) => one !== gone),
      true,
    );
    search.focus();
  };
  const add = (filter: Filter) => {
    // A field has one value, but an entity has several tags.
    const isSame = (one: Filter) =>
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
  const node = el(
    "section",
    { class: "card filters", "aria-label": "Search and filters" },
    el("div", { class: "filter-search" }, search),
    addForm(seen, add),
    chips,
  );
  return { node, paint };
}

function chipOf(filter: Filter, onRemove: (filter: Filter) => void): HTMLElement {
  const sign = operators.find(([op]) => op === filter.op)?.[1] ?? filter.op;
  const text = `${fieldName(filter.path)} ${sign} ${shortTag(filter.value)}`;
  const button = el(
    "button",
    {
      type: "button",
      class: "chip on",
      "aria-label": `Remove: ${text}`,
      onclick: () => onRemove(filter),
    },
    text,
    el("span", { "aria-hidden": "true" }, "×"),
  );
  return el("li", {}, button);
}

function addForm(seen: SeenFields, onAdd: (filter: Filter) => void): HTMLElement {
  const paths = ["tags", ...seen.keys()];
  const offered = el("datalist", { id: "offered" });
  const value = el("input", { list: "offered", required: true, autocomplete: "off" });
  let path = "tags";
  let op = "eq";
  const offer = () => {
    const values = [...(seen.get(path)?.values ?? [])].slice(0, maxOffered);
    offered.replaceChildren(...values.map((one) => el("option", { value: String(one) })));
  };
  const choices = paths.map((one) => [one, fieldName(one)] as const);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onAdd({ path, op, value: value.value });
    value.value = "";
  };
  const operator = labelled(
    "Is",
    chooser(operators, op, (chosen) => (op = chosen)),
  );
  operator.classList.add("operator");
  offer();
  return el(
    "form",
    { class: "filter-form", onsubmit: submit },
    labelled(
      "Field",
      chooser(choices, path, (chosen) => ((path = chosen), offer())),
    ),
    operator,
    labelled("Value", value),
    offered,
    el("button", {}, "Filter"),
  );
}
