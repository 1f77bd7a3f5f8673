/** Columns beside name and tags. */
const maxColumns = 4;
/** Depth of the fields that become columns: `data.a` and `data.a.b`. */
const maxDepth = 2;
/** Texts longer than this are for the page of the entity. */
const maxTextLength = 32;
/** A column is worth its place when this part of the rows has it. */
const minShare = 0.35;
/** Fields whose names promise a text or a key. */
const textNames = /(description|text|flavor|key|^name$|_name$|subtitle|id_tag|greeting)/;

/** @param {any} entity @param {string} path */
export function valueAt(entity, path) {
  let value = entity;
  for (const key of path.split("."))
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? value[key]
        : undefined;
  return typeof value === "object" ? undefined : value;
}

/** Scalar fields of an entity by path, as filters name them. @param {any} entity @returns {[string, string | number | boolean][]} */
export function fieldsOf(entity) {
  /** @type {[string, any][]} */
  const found = [];
  const visit = (
    /** @type {any} */ value,
    /** @type {string} */ path,
    /** @type {number} */ depth,
  ) => {
    if (value === null || Array.isArray(value)) return;
    if (typeof value !== "object") return void found.push([path, value]);
    if (depth === maxDepth) return;
    for (const [key, inner] of Object.entries(value))
      if (/^[A-Za-z0-9_]+$/.test(key)) visit(inner, `${path}.${key}`, depth + 1);
  };
  visit(entity.data, "data", 0);
  return found;
}

/** What is seen of each field: how often, and its different values. @param {any[]} entities */
export function seenFields(entities) {
  /** @type {Map<string, { times: number, values: Set<string | number | boolean> }>} */
  const seen = new Map();
  for (const entity of entities)
    for (const [path, value] of fieldsOf(entity)) {
      const field = seen.get(path) ?? { times: 0, values: new Set() };
      field.times++;
      field.values.add(value);
      seen.set(path, field);
    }
  return seen;
}

/** The fields that tell most about these entities, in the order they stand in. @param {any[]} entities @returns {string[]} */
export function columnsFor(entities) {
  const seen = [...seenFields(entities)];
  const fit = seen.filter(([path, { times, values }]) => {
    const name = path.split(".").at(-1) ?? "";
    const isShort = [...values].every((value) => String(value).length <= maxTextLength);
    return isShort && !textNames.test(name) && times >= entities.length * minShare;
  });
  // What varies tells more than what all have in common.
  const worth = ([, { times, values }]) => times * (values.size > 1 ? 2 : 1);
  const best = fit.toSorted((a, b) => worth(b) - worth(a)).slice(0, maxColumns);
  return fit.filter((one) => best.includes(one)).map(([path]) => path);
}
