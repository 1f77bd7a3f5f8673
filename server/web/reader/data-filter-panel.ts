import type { Facets } from "../generated/answers.ts";
import { el } from "../dom.ts";
import type { Filter, Resource } from "./data-resources.ts";
import { chooser, labelled } from "./pieces.ts";
import { readable } from "./words.ts";

/** Delay between the last key press and the request. */
const typingMs = 220;
/** A facet with more values than this scrolls. */
const manyValues = 8;

/** API parameters by name. */
export type Parameters = Readonly<Record<string, string>>;

/** In ascending order; other facets keep their order. */
const ranks = ["poor", "common", "uncommon", "rare", "epic", "legend", "unique", "artifact"];

const namesOf = ({ kind, name }: Filter) =>
  kind === "range" ? [`${name}_min`, `${name}_max`] : [name];

/** The parameters in the address that the panel knows. */
export function readParameters({ filters }: Resource): Parameters {
  const asked = new URLSearchParams(location.search);
  const names = filters.flatMap(namesOf).filter((name) => asked.get(name));
  return Object.fromEntries(names.map((name) => [name, asked.get(name) ?? ""]));
}

export function writeParameters({ filters }: Resource, parameters: Parameters): void {
  const address = new URL(location.href);
  for (const name of filters.flatMap(namesOf)) {
    const value = parameters[name];
    if (value === undefined) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  history.replaceState(null, "", address);
}

/** The filters of a list, open beside it on wide screens; null without filters. */
export function filterPanel(
  resource: Resource,
  facets: Facets,
  first: Parameters,
  onChange: (parameters: Parameters) => void,
): HTMLElement | null {
  const filters = resource.filters.filter(({ kind, name }) => kind !== "enum" || facets[name]);
  if (filters.length === 0) return null;
  let parameters = first;
  let timer: number | undefined;
  const set = (name: string, value: string, isTyped = false) => {
    const { [name]: _, ...others } = parameters;
    parameters = value === "" ? others : { ...others, [name]: value };
    clear.hidden = Object.keys(parameters).length === 0;
    clearTimeout(timer);
    timer = setTimeout(() => onChange(parameters), isTyped ? typingMs : 0);
  };
  const clear = el(
    "button",
    { type: "button", class: "wide", hidden: Object.keys(first).length === 0 },
    "Clear filters",
  );
  const form = el("form", { onsubmit: (event: Event) => event.preventDefault() });
  const fill = () =>
    form.replaceChildren(
      ...filters.map((filter) => fieldOf(filter, facets, parameters, set)),
      clear,
    );
  clear.addEventListener("click", () => {
    parameters = {};
    clear.hidden = true;
    fill();
    onChange(parameters);
  });
  fill();
  const isWide = matchMedia("(min-width: 60rem)");
  const panel = el(
    "details",
    { class: "card panel", open: isWide.matches },
    el("summary", {}, "Filters"),
    form,
  );
  isWide.addEventListener("change", () => (panel.open = isWide.matches));
  return panel;
}

type Setter = (name: string, value: string, isTyped?: boolean) => void;

function fieldOf(filter: Filter, facets: Facets, parameters: Parameters, set: Setter): HTMLElement {
  const {
    kind,
    name,
    hint = "",
    label = readable(name.replace(/^is_/, "").replace(/_id$/, "")),
  } = filter;
  const input = (parameter: string, rest: Readonly<Record<string, unknown>>) => {
    const field = el("input", {
      value: parameters[parameter] ?? "",
      autocomplete: "off",
      ...rest,
      oninput: () => set(parameter, field.validity.valid ? field.value.trim() : "", true),
    });
    return field;
  };
  if (kind === "enum") return choices(name, label, facets[name] ?? {}, parameters[name] ?? "", set);
  if (kind === "flag") {
    const options = [
      ["", "any"],
      ["true", "yes"],
      ["false", "no"],
    ] as const;
    return labelled(
      label,
      chooser(options, parameters[name] ?? "", (value) => set(name, value)),
    );
  }
  if (kind !== "range") {
    const type = kind === "number" ? { type: "number", step: 1 } : { type: "text", maxLength: 128 };
    return labelled(label, input(name, { ...type, placeholder: hint }));
  }
  const ends = ["min", "max"].map((end) =>
    input(`${name}_${end}`, {
      type: "number",
      step: 1,
      placeholder: end,
      "aria-label": `${label}, ${end}`,
    }),
  );
  return el("fieldset", { class: "range" }, el("legend", {}, label), ...ends);
}

/** A facet with multiple selection. */
function choices(
  name: string,
  label: string,
  facet: Readonly<Record<string, string>>,
  value: string,
  set: Setter,
): HTMLElement {
  const chosen = new Set(value.split(",").filter((slug) => slug !== ""));
  const slugs = Object.keys(facet);
  if (name === "rarity") slugs.sort((a, b) => ranks.indexOf(a) - ranks.indexOf(b));
  const boxes = slugs.map((slug) => {
    const box = el("input", {
      type: "checkbox",
      checked: chosen.has(slug),
      onchange: () => {
        if (box.checked) chosen.add(slug);
        else chosen.delete(slug);
        set(name, [...chosen].join(","));
      },
    });
    return el(
      "label",
      { class: `check rarity-${name === "rarity" ? slug : ""}` },
      box,
      el("span", {}, facet[slug]),
    );
  });
  return el(
    "fieldset",
    {},
    el("legend", {}, label),
    el("div", { class: slugs.length > manyValues ? "options many" : "options" }, ...boxes),
  );
}
