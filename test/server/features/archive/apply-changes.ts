import assert from "node:assert/strict";
import type { FieldChange } from "../../../../server/features/archive/field-diff.ts";

type Json = Record<string, unknown>;

export const set = (object: object, key: string | number, value: unknown) =>
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });

/** The steps of a path, parsed like jq does after a dot. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  let rest = `.${path}`;
  while (rest !== "") {
    const step = /^(?:\.([A-Za-z_]\w*)|\.?\[(\d+)\]|\.?\[("(?:[^"\\]|\\.)*")\])/.exec(rest);
    assert.ok(step, `${path} is no jq path at ${rest}`);
    const [all, name, index, text] = step;
    steps.push(name ?? (index === undefined ? String(JSON.parse(text ?? "")) : Number(index)));
    rest = rest.slice(all.length);
  }
  return steps;
}

/** Applies changes like a client: a null `after` removes the place, last places first. */
export function apply(before: Json, changes: readonly FieldChange[]): Json {
  const result = structuredCloneJson(before) as Json;
  const lists = new Map<unknown[], Set<number>>();
  for (const { path, after } of changes) {
    const steps = stepsOf(path);
    const last = steps.pop() ?? "";
    const parent = steps.reduce<unknown>((at, step) => (at as Json)[step], result) as Json;
    if (Array.isArray(parent) && after === null) {
      const gone = lists.get(parent) ?? new Set();
      lists.set(parent, gone.add(last as number));
    }
    if (!Array.isArray(parent) && after === null) delete parent[last as string];
    else set(parent, last, structuredCloneJson(after));
  }
  // Places that became null at the end of a list are removed.
  for (const [list, gone] of lists) while (gone.has(list.length - 1)) list.pop();
  return result;
}

/** JSON.parse makes `__proto__` a plain member, which structuredClone does not. */
const structuredCloneJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The inverse changes. */
export const invert = (changes: readonly FieldChange[]) =>
  changes.map(({ path, before, after }) => ({ path, before: after, after: before }));
