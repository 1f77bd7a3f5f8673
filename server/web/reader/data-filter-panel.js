import { make } from "./page.js";
import { chooser, labelled } from "./pieces.js";
import { readable } from "./words.js";

/** Quiet time after a key before the list is asked for. */
const typingMs = 220;
/** A facet with more values than this is scrolled. */
const manyValues = 8;

/** @typedef {import("./data-resources.js").Resource} Resource @typedef {import("./data-resources.js").Filter} Filter */
/** @typedef {Record<string, string>} Parameters */

/** From the least to the best; other facets keep their order. */
const ranks = ["poor", "common", "uncommon", "rare", "epic", "legend", "unique", "artifact"];

/** @param {Filter} filter */
const namesOf = ({ kind, name }) => (kind === "range" ? [`${name}_min`, `${name}_max`] : [name]);

/** What the address asks for, of what the panel has. @param {Resource} resource @returns {Parameters} */
export function readParameters({ filters }) {
  const asked = new URLSearchParams(location.search);
  const names = filters.flatMap(namesOf).filter((name) => asked.get(name));
  return Object.fromEntries(names.map((name) => [name, asked.get(name) ?? ""]));
}

/** @param {Resource} resource @param {Parameters} parameters */
export function writeParameters({ filters }, parameters) {
  const address = new URL(location.href);
  for (const name of filters.flatMap(namesOf)) {
    if (parameters[name] === undefined) address.searchParams.delete(name);
    else address.searchParams.set(name, parameters[name]);
  }
  history.replaceState(null, "", address);
}

/**
 * The filters of a list, open beside it where there is room; null when it has none.
 * @param {Resource} resource @param {Record<string, Record<string, string>>} facets @param {Parameters} first
 * @param {(parameters: Parameters) => void} onChange
 */
export function filterPanel(resource, facets, first, onChange) {
  const filters = resource.filters.filter(({ kind, name }) => kind !== "enum" || facets[name]);
  if (filters.length === 0) return null;
  let parameters = first;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const set = (/** @type {string} */ name, /** @type {string} */ value, isTyped = false) => {
    const { [name]: _, ...others } = parameters;
    parameters = value === "" ? others : { ...others, [name]: value };
    clear.hidden = Object.keys(parameters).length === 0;
    clearTimeout(timer);
    timer = setTimeout(() => onChange(parameters), isTyped ? typingMs : 0);
  };
  const clear = make(
    "button",
    { type: "button", class: "wide", hidden: Object.keys(first).length === 0 },
    "Clear filters",
  );
  const form = make("form", { submit: (/** @type {Event} */ event) => event.preventDefault() });
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
  const panel = make(
    "details",
    { class: "card panel", open: isWide.matches },
    make("summary", {}, "Filters"),
    form,
  );
  isWide.addEventListener("change", () => (panel.open = isWide.matches));
  return panel;
}

/** @typedef {(name: string, value: string, isTyped?: boolean) => void} Setter */

/** @param {Filter} filter @param {any} facets @param {Parameters} parameters @param {Setter} set */
function fieldOf(filter, facets, parameters, set) {
  const {
    kind,
    name,
    hint = "",
    label = readable(name.replace(/^is_/, "").replace(/_id$/, "")),
  } = filter;
  const input = (/** @type {string} */ parameter, /** @type {Record<string, any>} */ rest) => {
    const field = make("input", {
      value: parameters[parameter] ?? "",
      autocomplete: "off",
      ...rest,
      input: () => set(parameter, field.validity.valid ? field.value.trim() : "", true),
    });
    return field;
  };
  if (kind === "enum") return choices(name, label, facets[name], parameters[name] ?? "", set);
  if (kind === "flag") {
    const options = /** @type {[string, string][]} */ ([
      ["", "any"],
      ["true", "yes"],
      ["false", "no"],
    ]);
    return labelled(
      label,
      chooser(options, parameters[name] ?? "", (value) => set(name, value)),
    );
  }
  if (kind !== "range") {
    const type = kind === "number" ? { type: "number", step: 1 } : { type: "text", maxlength: 128 };
    return labelled(label, input(name, { ...type, placeholder: hint }));
  }
  const ends = /** @type {const} */ (["min", "max"]).map((end) =>
    input(`${name}_${end}`, {
      type: "number",
      step: 1,
      placeholder: end,
      "aria-label": `${label}, ${end}`,
    }),
  );
  return make("fieldset", { class: "range" }, make("legend", {}, label), ...ends);
}

/** Several values of a facet at once. @param {string} name @param {string} label @param {Record<string, string>} facet @param {string} value @param {Setter} set */
function choices(name, label, facet, value, set) {
  const chosen = new Set(value.split(",").filter((slug) => slug !== ""));
  const slugs = Object.keys(facet);
  if (name === "rarity") slugs.sort((a, b) => ranks.indexOf(a) - ranks.indexOf(b));
  const boxes = slugs.map((slug) => {
    const box = make("input", {
      type: "checkbox",
      checked: chosen.has(slug),
      change: () => {
        if (box.checked) chosen.add(slug);
        else chosen.delete(slug);
        set(name, [...chosen].join(","));
      },
    });
    return make(
      "label",
      { class: `check rarity-${name === "rarity" ? slug : ""}` },
      box,
      make("span", {}, facet[slug]),
    );
  });
  return make(
    "fieldset",
    {},
    make("legend", {}, label),
    make("div", { class: slugs.length > manyValues ? "options many" : "options" }, ...boxes),
  );
}
