/** One difference; `path` with a dot before it is a jq path (COD-09). */
export interface FieldChange {
  path: string;
  before: unknown;
  after: unknown;
}

type JsonObject = Record<string, unknown>;

const plainKey = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Differences of two JSON objects, ordered by path. Objects are compared by key, lists by index where that is
 * reversible. A missing side is null, as is a null member. Swapping `before` and `after` of every change gives what
 * the swapped arguments give.
 */
export function diffFields(before: JsonObject, after: JsonObject): FieldChange[] {
  const changes: FieldChange[] = [];
  diffObjects("", before, after, changes);
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** For values that are not identical: most are, and need no path. */
function diffValues(path: string, before: unknown, after: unknown, changes: FieldChange[]): void {
  if (Array.isArray(before) && Array.isArray(after)) {
    if (areChangesReversible(before, after)) diffLists(path, before, after, changes);
    else if (!areEqual(before, after)) changes.push({ path, before, after });
  } else if (isObject(before) && isObject(after)) diffObjects(path, before, after, changes);
  else changes.push({ path, before: before ?? null, after: after ?? null });
}

function diffObjects(path: string, before: JsonObject, after: JsonObject, changes: FieldChange[]) {
  for (const key of Object.keys(before)) {
    const [old, now] = [before[key] ?? null, own(after, key)];
    if (old !== now) diffValues(pathOf(path, key), old, now, changes);
  }
  for (const key of Object.keys(after)) {
    if (Object.hasOwn(before, key)) continue;
    const now = after[key] ?? null;
    if (now !== null) diffValues(pathOf(path, key), null, now, changes);
  }
}

function diffLists(path: string, before: unknown[], after: unknown[], changes: FieldChange[]) {
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length; index++) {
    const [old, now] = [before[index] ?? null, after[index] ?? null];
    if (old !== now) diffValues(`${path}[${index}]`, old, now, changes);
  }
}

/**
 * Whether changes by index lead from one list to the other and back (COD-09). A missing element reads as null, and a
 * null at the end of the list disappears. So [1] and [1, null] would differ by nothing, [1, 2] would become [1] and
 * [1, null] by the same change, and the way back from [null, 2] to [null] would remove both elements.
 */
function areChangesReversible(before: unknown[], after: unknown[]): boolean {
  const [shorter, longer] = before.length < after.length ? [before, after] : [after, before];
  const shared = shorter.length;
  if (longer.includes(null, shared)) return false;
  if (shared === 0) return true;
  const [short, long] = [shorter[shared - 1], longer[shared - 1]];
  if (short === null && long !== null) return false;
  return shared < longer.length || short === null || long !== null;
}

/** Own members only: `constructor` and `__proto__` are plain data. */
const own = (object: JsonObject, key: string): unknown =>
  Object.hasOwn(object, key) ? (object[key] ?? null) : null;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function pathOf(path: string, key: string): string {
  if (!plainKey.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** Equality of the archive: numbers by value, null members like absent ones. */
function areEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => areEqual(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => areEqual(own(a, key), own(b, key)));
}
