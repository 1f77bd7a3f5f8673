import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { SourceEntity } from "../../../../importers/envelope/contract.ts";
import { startApp, type App } from "../../../support/app.ts";
import { entity, load as loadInto } from "../../../support/archive.ts";
import { randomBelow } from "../../../support/random.ts";
import type { FieldChange } from "../../../../server/features/archive/field-diff.ts";
import { apply, invert } from "./apply-changes.ts";
import {
  comparedParts,
  comparedText,
  opsBetween,
  ReferenceArchive,
  stable,
  typeOf,
  type RefPatch,
} from "./reference.ts";

type Json = Record<string, unknown>;

type Random = (below: number) => number;

const seed = Number(process.env["ARCHIVE_SEED"] ?? 20_261_121);

/** Number of histories; ARCHIVE_HISTORIES increases it for a longer run. */
const histories = Number(process.env["ARCHIVE_HISTORIES"] ?? 200);

/** Games of one archive are independent. */
const atOnce = 4;

const ids = ["item", "monster"].flatMap((type) =>
  ["a", "b", "c", "d"].map((name) => `id.${type}.${name}`),
);

const words = ["fire", "Frost", "bow of ice", "old"];
const values = [1, 2, 10, "2", "ten", true, null, [1, 2], { x: 1 }];

/** Long enough for Postgres to compress the document. */
const bulk = "large and dull ".repeat(300);

const pick = <T>(random: Random, list: readonly T[]): T => {
  const one = list[random(list.length)];
  if (one === undefined) throw new Error("nothing to pick");
  return one;
};

function randomEntity(random: Random, id: string): SourceEntity {
  const links = Array.from({ length: random(3) }, () => ({
    rel: pick(random, ["part", "drop"]),
    target: pick(random, ids),
  }));
  const data: Json = { power: pick(random, values), description: pick(random, words) };
  if (random(3) === 0) data["odd key"] = pick(random, values);
  if (random(3) === 0) data["bulk"] = bulk;
  const tags = random(2) === 0 ? ["x"] : ["y", "x"];
  return entity(id, { name: `${pick(random, words)} ${id.slice(-1)}`, data, tags, links });
}

/** The next state, mostly equal to the previous one. */
function nextState(random: Random, before: ReadonlyMap<string, SourceEntity>): SourceEntity[] {
  return ids.flatMap((id) => {
    const known = before.get(id);
    const roll = random(10);
    if (known === undefined) return roll < 3 ? [randomEntity(random, id)] : [];
    if (roll === 0) return [];
    return [roll < 3 ? randomEntity(random, id) : known];
  });
}

let app: App;

const get = async (path: string) => {
  const answer = await app.client.get(`/v1/codex/${path}`);
  return { status: answer.status, body: answer.body as Json };
};

const read = async (path: string) => {
  const { status, body } = await get(path);
  assert.equal(status, 200, path);
  return body;
};

const load = async (game: string, branch: Json, version: string, entities: SourceEntity[]) => {
  const input = { game, branch: branch as { slug: string }, version, entities };
  const { added, changed, removed } = await loadInto(app, input);
  return { added, changed, removed };
};

/** Three to five patches of main, and usually a branch. */
async function grow(game: string, random: Random): Promise<ReferenceArchive> {
  const reference = new ReferenceArchive();
  const step = async (branch: Json, version: string, fork?: RefPatch[]) => {
    const slug = String(branch["slug"]);
    const patches = reference.branches.get(slug)?.patches ?? fork ?? [];
    const entities = nextState(random, patches.at(-1)?.state ?? new Map());
    const expected = reference.import(slug, version, entities, fork);
    assert.deepEqual(await load(game, branch, version, entities), expected, `${game} ${version}`);
  };
  const length = 2 + random(3);
  for (let n = 1; n <= length; n++) await step({ slug: "main" }, `${n}.0`);
  if (random(3) > 0) {
    const at = 1 + random(length);
    const fork = reference.branch("main").patches.slice(0, at);
    const origin = { slug: "beta", parent: "main", fork_version: `${at}.0` };
    for (let n = 1; n <= 1 + random(2); n++)
      await step(n === 1 ? origin : { slug: "beta" }, `${at}.0.${n}`, fork);
    if (random(2) === 0) await step({ slug: "main" }, `${length + 1}.0`);
  }
  return reference;
}

async function checkEntity(game: string, reference: ReferenceArchive, random: Random) {
  const slug = pick(random, [...reference.branches.keys()]);
  const { patches } = reference.branch(slug);
  const id = pick(random, ids);
  const patch = pick(random, patches);
  const placeOf = (version: string) =>
    patches.findIndex((one) => one.version === version.replace("-", ""));
  const expected = patch.state.get(id);
  const path = `${game}/${id}?branch=${slug}&at_patch=${patch.version}&hydrate=part`;
  const { status, body } = await get(path);
  assert.equal(status, expected === undefined ? 404 : 200, path);
  if (expected === undefined) return;
  assert.equal(comparedText(body as unknown as SourceEntity), comparedText(expected), path);
  const changed = reference
    .history(slug, id)
    .filter((version) => placeOf(version) <= patches.indexOf(patch));
  assert.equal((body["patch"] as Json)["version_raw"], changed.at(-1), path);
  const targets = (expected.links ?? [])
    .filter(({ rel }) => rel === "part")
    .map(({ target }) => (patch.state.has(target) ? target : null))
    .sort((a, b) => String(a).localeCompare(String(b)));
  const { part } = body["hydrated"] as { part: Json | (Json | null)[] | null };
  const shown = Array.isArray(part) ? part : targets.length === 0 ? [] : [part];
  const found = shown.map((row) => row?.["id"] ?? null);
  assert.deepEqual(
    found.sort((a, b) => String(a).localeCompare(String(b))),
    targets,
    path,
  );
}

async function checkHistory(game: string, reference: ReferenceArchive, random: Random) {
  const slug = pick(random, [...reference.branches.keys()]);
  const id = pick(random, ids);
  const expected = reference.history(slug, id);
  const { status, body } = await get(`${game}/${id}/history?branch=${slug}`);
  assert.equal(status, expected.length === 0 ? 404 : 200, `${game} ${slug} ${id}`);
  if (expected.length === 0) return;
  const rows = (body["history"] as Json[]).map(
    (row) => `${row["is_tombstone"] ? "-" : ""}${String(row["patch_version_raw"])}`,
  );
  assert.deepEqual(rows, expected, `${game} ${slug} ${id}`);
}

async function checkDiff(game: string, reference: ReferenceArchive, random: Random) {
  const slug = pick(random, [...reference.branches.keys()]);
  const { patches } = reference.branch(slug);
  const [a, b] = [random(patches.length), random(patches.length)].sort((x, y) => x - y);
  const [from, to] = [patches[a ?? 0], patches[b ?? 0]];
  if (!from || !to) throw new Error("no patches");
  const query = `branch=${slug}&from=${to.version}&to=${from.version}`;
  const diff = await read(`${game}/diff?${query}`);
  const entries = diff["entries"] as Json[];
  const expected = opsBetween(from.state, to.state);
  const where = `${game} ${query}`;
  assert.deepEqual(
    entries.map(({ id, op }) => ({ id, op })),
    expected,
    where,
  );
  for (const { id, op, before, after, changes } of entries) {
    const old: SourceEntity | undefined = from.state.get(String(id));
    const now: SourceEntity | undefined = to.state.get(String(id));
    if (op === "added") assert.equal(stable(after), stable(now?.data), where);
    if (op === "removed") assert.equal(stable(before), stable(old?.data), where);
    if (op !== "changed" || !old || !now) continue;
    const steps = changes as FieldChange[];
    assert.equal(stable(apply(comparedParts(old), steps)), comparedText(now), where);
    assert.equal(stable(apply(comparedParts(now), invert(steps))), comparedText(old), where);
  }
  const straight = `branch=${slug}&from=${from.version}&to=${to.version}`;
  assert.deepEqual(await read(`${game}/diff?${straight}`), diff, where);
  if (expected[0]) {
    const one = await read(`${game}/diff/${expected[0].id}?${query}`);
    assert.deepEqual(one["entry"], entries[0], where);
  }
  const log = await read(`${game}/changelog?${query}&limit=3`);
  assert.equal(log["count"], expected.length, where);
  assert.deepEqual(log["summary"], diff["summary"], where);
  const rank = { added: 0, changed: 1, removed: 2 };
  const ordered = expected
    .toSorted(
      (x, y) =>
        +(typeOf(x.id) > typeOf(y.id)) - +(typeOf(x.id) < typeOf(y.id)) || rank[x.op] - rank[y.op],
    )
    .slice(0, 3)
    .map(({ id }) => id);
  const shown = Object.values(log["types"] as Record<string, Record<string, Json[]>>).flatMap(
    (group) =>
      ["added", "changed", "removed"].flatMap((op) => group[op]?.map(({ id }) => id) ?? []),
  );
  assert.deepEqual(shown, ordered, where);
}

const scalarText = (value: unknown) =>
  value === null || value === undefined || typeof value === "object" ? null : String(value);

const numeric = (value: unknown) => {
  const text = scalarText(value);
  return text !== null && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
};

const startsWord = (text: string, start: string) =>
  text
    .toLowerCase()
    .split(/\W+/)
    .some((word) => word.startsWith(start));

const queries: [string, (one: SourceEntity) => boolean][] = [
  ["", () => true],
  ["&filter[data.power]=2", ({ data }) => scalarText(data["power"]) === "2"],
  ["&filter[data.power]:ne=2", ({ data }) => scalarText(data["power"]) !== "2"],
  ["&filter[data.power]:gte=2", ({ data }) => numeric(data["power"]) >= 2],
  ["&filter[data.power]:gt=2", ({ data }) => numeric(data["power"]) > 2],
  ["&filter[data.power]:lte=2", ({ data }) => numeric(data["power"]) <= 2],
  ["&filter[data.power]:lt=10", ({ data }) => numeric(data["power"]) < 10],
  ["&filter[data.power.0]=1", ({ data }) => Array.isArray(data["power"])],
  ["&filter[data.power.x]=1", ({ data }) => stable(data["power"]) === '{"x":1}'],
  ["&filter[data.power.1]:gt=1", ({ data }) => Array.isArray(data["power"])],
  ["&filter[data.power.1]:ne=2", ({ data }) => !Array.isArray(data["power"])],
  ["&filter[data.bulk]:ne=", () => true],
  [`&filter[data.bulk]=${encodeURIComponent(bulk.slice(0, 500))}`, () => false],
  [
    "&filter[data.power]:ne=2&filter[data.power]:gt=1&filter[tags]=x",
    ({ data }) => numeric(data["power"]) > 2,
  ],
  [
    "&q=fr&filter[data.power]:gte=1",
    ({ name, data }) =>
      startsWord(`${name} ${String(data["description"])}`, "fr") && numeric(data["power"]) >= 1,
  ],
  ["&filter[tags]=y", ({ tags = [] }) => tags.includes("y")],
  ["&filter[tags]:ne=y", ({ tags = [] }) => !tags.includes("y")],
  ["&q=fr", ({ name, data }) => startsWord(`${name} ${String(data["description"])}`, "fr")],
  [
    "&q=ice+a",
    ({ name, data }) =>
      ["ice", "a"].every((w) => startsWord(`${name} ${String(data["description"])}`, w)),
  ],
];

async function checkList(game: string, reference: ReferenceArchive, random: Random) {
  const slug = pick(random, [...reference.branches.keys()]);
  const [type, [query, passes]] = [pick(random, ["item", "monster"]), pick(random, queries)];
  const expected = reference.list(slug, type, passes);
  const found: unknown[] = [];
  let cursor: unknown = 0;
  for (let page = 0; cursor !== null && page < 10; page++) {
    const path = `${game}/${type}?branch=${slug}&limit=2&cursor=${String(cursor)}${query}`;
    const list = await read(path);
    assert.equal(list["count"], expected.length, path);
    found.push(...(list["entities"] as Json[]).map(({ id }) => id));
    cursor = list["next"];
  }
  assert.deepEqual(found, expected, `${game} ${slug} ${type} ${query}`);
  const { types } = await read(`${game}/manifest?branch=${slug}`);
  const counts = Map.groupBy(reference.head(slug).keys(), typeOf);
  assert.deepEqual(
    types,
    Object.fromEntries([...counts].map(([name, all]) => [name, all.length]).sort()),
  );
}

async function follow(n: number): Promise<void> {
  const [game, random] = [`g${n}`, randomBelow(seed + n)];
  const reference = await grow(game, random);
  for (const check of [checkEntity, checkEntity, checkHistory, checkDiff, checkDiff, checkList])
    await check(game, reference, random);
}

describe(`random histories against an archive in memory (ARCHIVE_SEED=${seed})`, () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  describe("in every read", () => {
    it(`return the same in ${histories} histories`, async () => {
      for (let n = 0; n < histories; n += atOnce)
        await Promise.all(
          Array.from({ length: Math.min(atOnce, histories - n) }, (_, i) => follow(n + i)),
        );
    });
  });
});
