import assert from "node:assert/strict";
import { diffFields } from "../../../../server/features/archive/field-diff.ts";
import { randomBelow } from "../../../support/random.ts";
import { fc } from "../../../support/seed.ts";
import { apply, invert, set } from "./apply-changes.ts";

export type Json = Record<string, unknown>;

const keys = ["a", "b", "_c9", "with.dot", "has-dash", "0", "", " ", 'q"\\(1)', "é", "__proto__"];
keys.push("constructor", "toString", "and", "]", "[0]", "\n", "😀", "hasOwnProperty");
const scalars = [null, true, false, 0, -0, 1, 1.5, 1e21, "", "1", "null", "x\ty", "😀"];

function randomValue(random: (below: number) => number, depth: number): unknown {
  const kind = depth <= 0 ? 9 : random(10);
  if (kind < 3) return randomObject(random, depth - 1);
  if (kind < 5) return Array.from({ length: random(5) }, () => randomValue(random, depth - 1));
  return scalars[random(scalars.length)];
}

export function randomObject(random: (below: number) => number, depth: number): Json {
  const object: Json = {};
  for (let n = random(5); n > 0; n--)
    set(object, keys[random(keys.length)] ?? "", randomValue(random, depth));
  return object;
}

/** A copy with a few changes, since unrelated pairs reveal little. */
export function mutate(value: unknown, random: (below: number) => number, depth: number): unknown {
  if (random(6) === 0) return randomValue(random, depth);
  if (Array.isArray(value)) {
    const list = value.map((item) => mutate(item, random, depth - 1));
    if (random(4) === 0) list.push(randomValue(random, depth - 1));
    if (random(4) === 0) list.pop();
    return list;
  }
  if (typeof value !== "object" || value === null) return value;
  const copy: Json = {};
  for (const [key, item] of Object.entries(value))
    if (random(8) > 0) set(copy, key, mutate(item, random, depth - 1));
  return copy;
}

/** Equality of the archive: null members count as absent, and key order does not matter. */
export function normal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(normal).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, item]) => item !== null);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${normal(item)}`)
    .join()}}`;
}

/** The changes of each pair lead from one to the other and back, and are sorted by path. */
export function checkPairs(seed: number, pairs: number): void {
  const random = randomBelow(seed);
  let changed = 0;
  for (let n = 0; n < pairs; n++) {
    const before = randomObject(random, 3);
    const after = random(4) === 0 ? randomObject(random, 3) : (mutate(before, random, 3) as Json);
    if (typeof after !== "object" || after === null || Array.isArray(after)) continue;
    const changes = diffFields(before, after);
    // Building the text takes longer than the check.
    const ensure = (holds: boolean) => {
      if (!holds) assert.fail(`pair ${n}: ${JSON.stringify([before, after, changes])}`);
    };
    const [left, right] = [normal(before), normal(after)];
    ensure((changes.length === 0) === (left === right));
    if (changes.length === 0) continue;
    changed++;
    ensure(normal(apply(before, changes)) === right);
    ensure(normal(apply(after, invert(changes))) === left);
    ensure(JSON.stringify(diffFields(after, before)) === JSON.stringify(invert(changes)));
    const paths = changes.map(({ path }) => path);
    ensure(paths.every((path, at) => at === 0 || (paths[at - 1] ?? "") < path));
  }
  assert.ok(changed > pairs / 2);
}

/** Lists of a JSON document, including nulls at the end. */
const lists = fc.letrec<{ value: unknown; list: unknown[] }>((tie) => ({
  value: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(null, null, 1, 2, "x", {}, { a: 1 }, { a: null }) },
    { weight: 1, arbitrary: tie("list") },
  ),
  list: fc.array(tie("value"), { maxLength: 5 }),
})).list;
const byIndex = (before: readonly unknown[], after: readonly unknown[]) =>
  Array.from({ length: Math.max(before.length, after.length) }, (_, at) =>
    diffFields({ v: before[at] ?? null }, { v: after[at] ?? null }).map((change) => ({
      ...change,
      path: change.path.replace("v", `l[${at}]`),
    })),
  )
    .flat()
    .sort((a, b) => (a.path < b.path ? -1 : 1));

export function checkLists(seed: number, runs: number): void {
  fc.assert(
    fc.property(lists, lists, (before, after) => {
      const [old, now] = [{ l: before }, { l: after }];
      const changes = diffFields(old, now);
      assert.equal(normal(apply(old, changes)), normal(now));
      assert.equal(normal(apply(now, invert(changes))), normal(old));
      const single = byIndex(before, after);
      const leads =
        normal(apply(old, single)) === normal(now) &&
        normal(apply(now, invert(single))) === normal(old);
      assert.deepEqual(changes, leads ? single : [{ path: "l", before, after }]);
    }),
    { numRuns: runs, seed },
  );
}
