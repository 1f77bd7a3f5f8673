import { snakeCase } from "../../server/platform/text/snake-case.ts";

/** Keys that a report lists; the rest is counted. */
export const maxListedKeys = 100;
/** Characters of a place in a report. */
const maxPlace = 200;

type Fields = Readonly<Record<string, unknown>>;

const isSnake = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

/**
 * The names of an object's keys in snake case, in order (COD-21). Of several keys of one form, the one that is spelled so
 * gets the name, otherwise the first; the others keep their spelling.
 */
export function snakeNames(
  keys: readonly string[],
  nameOf: (key: string) => string = snakeCase,
): string[] {
  const forms = keys.map((key) => nameOf(key) || key);
  const taken = new Set(keys.filter((key, at) => forms[at] === key));
  return keys.map((key, at) => {
    const form = forms[at] ?? key;
    if (taken.has(form)) return key;
    taken.add(form);
    return form;
  });
}

/** Whether the key of converted data kept its spelling beside another one of its form. */
const isKept = (key: string) => !isSnake.test(key) && ![key, ""].includes(snakeCase(key));

/** Places of all keys of converted data that kept their spelling. */
export function keptPlaces(value: unknown, place: string): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, at) => keptPlaces(item, `${place}[${at}]`));
  return Object.entries(value).flatMap(([key, item]) => {
    const inside = keptPlaces(item, `${place}.${key}`);
    return isKept(key) ? [`${place}.${key}`, ...inside] : inside;
  });
}

/**
 * Converted data as versions before COD-21 stored it: the key that is spelled in snake case replaced the first one of its
 * form where it came later.
 */
export function formerData<T>(value: T): T;
export function formerData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => formerData(item));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Fields);
  const positions = new Map(entries.map(([key], at) => [key, at]));
  const forms = new Set<string>();
  const stored = entries.filter(([key], at) => {
    const form = isKept(key) ? snakeCase(key) : key;
    const isFirst = !forms.has(form);
    forms.add(form);
    return !isFirst || form === key || (positions.get(form) ?? -1) < at;
  });
  return Object.fromEntries(stored.map(([key, item]) => [key, formerData(item)]));
}

/** Keys that kept their spelling, over all entities of an envelope: the first are listed, all are counted. */
export class KeptKeys {
  readonly listed: string[] = [];
  omitted = 0;

  add(entity: string, places: readonly string[]): void {
    for (const place of places) {
      if (this.listed.length >= maxListedKeys) this.omitted++;
      else this.listed.push(`${entity} ${place.length > maxPlace ? "data" : place}`);
    }
  }
}
