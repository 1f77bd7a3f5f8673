import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import type { KnownAsset } from "../../../importers/pipeline/check/asset-index.ts";
import { ImportRefused } from "../../../importers/envelope/contract.ts";
import { openEnvelopeFile } from "../../../importers/envelope/envelope-file.ts";
import {
  prepareEntity,
  preparingVersion,
} from "../../../importers/pipeline/check/prepare-entity.ts";
import { ProblemList } from "../../../importers/envelope/problem-list.ts";
import { importEnvelope, runImport } from "../../../importers/pipeline/import.ts";
import { randomBelow } from "../../support/random.ts";
import { importTime, startArchive, type Archive } from "../../support/archive.ts";

type Json = Record<string, unknown>;

type Random = (below: number) => number;

const seed = Number(process.env["KNOWN_SEED"] ?? 20_261_121);

/** Number of histories; KNOWN_HISTORIES increases it for a longer run. */
const histories = Number(process.env["KNOWN_HISTORIES"] ?? 8);
const stepsEach = 7;

function pick<T>(random: Random, list: readonly T[]): T {
  const one = list[random(list.length)];
  if (one === undefined) throw new Error("nothing to pick");
  return one;
}

/** Content and spelling of an envelope file. */
interface Draft {
  entities: Json[];
  english: Record<string, string>;
  roles: (string | undefined)[];
  pictures: string[];
  /** Spelling of each entity: spaces between members, and the first member. */
  spelling: { blanks: string; turn: number }[];
}

const firstDraft = (): Draft => ({
  entities: ["a", "b", "c", "d", "e"].map((name, n) => ({
    id: `id.item.${name}`,
    upstream_key: `Id_Item_${name}`,
    type: "item",
    name_key: n % 2 === 0 ? "name.even" : `name.${name}`,
    name: name.toUpperCase(),
    tags: ["x", name],
    icon: n === 0 ? "p0.png" : n === 1 ? hash("sha256", "picture 1", "hex") : null,
    assets: n === 2 ? ["p1.png"] : [],
    data: { power: n, description: n === 3 ? "text.d" : "plain words" },
    links: [{ rel: "part", target: "id.item.a" }],
  })),
  english: { "name.even": "Even", "text.d": "frost and fire" },
  roles: ["portrait", undefined],
  pictures: ["picture 0", "picture 1"],
  spelling: [{ blanks: "", turn: 0 }],
});

const edits: ((draft: Draft, random: Random) => void)[] = [
  (draft, random) => (draft.spelling = [{ blanks: " \n ".slice(random(3)), turn: random(9) }]),
  (draft, random) => draft.spelling.push({ blanks: "", turn: random(9) }),
  (draft) => draft.entities.reverse(),
  (draft, random) => (draft.english["name.even"] = pick(random, ["Even", "Level", ""])),
  (draft, random) => (draft.english["text.d"] = pick(random, ["frost and fire", "ice"])),
  (draft, random) => (draft.english["unused"] = String(random(2))),
  (draft, random) => (draft.pictures[0] = pick(random, ["picture 0", "other"])),
  (draft, random) => (draft.roles = [pick(random, ["portrait", "icon"]), undefined]),
  (draft, random) => swap(draft, random, "id"),
  (draft, random) => swap(draft, random, "upstream_key"),
  (draft, random) => swap(draft, random, "data"),
  (draft, random) => (pick(random, draft.entities)["upstream_key"] = `Id_New_${random(3)}`),
  (draft, random) => (pick(random, draft.entities)["data"] = { power: random(3) }),
  (draft, random) => draft.entities.push(pick(random, draft.entities)),
  (draft, random) => draft.entities.push({ ...pick(random, draft.entities), id: "id.item.z" }),
  (draft, random) => draft.entities.splice(random(draft.entities.length), 1),
  (draft, random) =>
    (pick(random, draft.entities)["icon"] = pick(random, ["p1.png", "none", null])),
];

function swap({ entities }: Draft, random: Random, member: string): void {
  const [one, other] = [pick(random, entities), pick(random, entities)];
  [one[member], other[member]] = [other[member], one[member]];
}

const copyOf = (draft: Draft): Draft => structuredClone(draft);

function lineOf(entity: Json, { blanks, turn }: { blanks: string; turn: number }): string {
  const members = Object.entries(entity).map(
    ([name, value]) => `${blanks}${JSON.stringify(name)}:${blanks}${JSON.stringify(value)}`,
  );
  return `{${[...members.slice(turn), ...members.slice(0, turn)].join(`${blanks},`)}${blanks}}`;
}

interface Step {
  branch: Json;
  version: string;
  draft: Draft;
}

function textOf(game: string, { branch, version, draft }: Step): string {
  const lines = draft.entities.map((entity, n) =>
    lineOf(entity, draft.spelling[n % draft.spelling.length] ?? { blanks: "", turn: 0 }),
  );
  const header = {
    format: 1,
    game: { slug: game, display_name: "Game" },
    branch,
    patch: { version_raw: version, released_at: null },
    locales: { en: draft.english, de: { k: "t" } },
    assets: draft.roles.map((role, n) => ({ path: `p${n}.png`, media_type: "image/png", role })),
  };
  return `${JSON.stringify(header).slice(0, -1)},"entities":[${lines.join(",\n")}]}`;
}

let archive: Archive;
let folder: string;

/** The result; `isBlind` reads every entity, even if its text is known. */
async function run(game: string, step: Step, isForgotten: boolean): Promise<unknown> {
  const at = join(folder, game);
  mkdirSync(at, { recursive: true });
  for (const [n, picture] of step.draft.pictures.entries())
    writeFileSync(join(at, `p${n}.png`), picture);
  const text = textOf(game, step);
  writeFileSync(join(at, "e.json"), text.length % 2 === 0 ? text : gzipSync(text));
  const { digests, ...withoutDigests } = await openEnvelopeFile(join(at, "e.json"));
  if (isForgotten) await forget(game);
  try {
    // The archive stores a file once for both games, so only the first import counts it.
    const {
      game: _game,
      assets: _assets,
      changes,
      ...plan
    } = await runImport(
      archive.orm.em.fork(),
      isForgotten || digests === undefined ? withoutDigests : { ...withoutDigests, digests },
      { now: importTime },
    );
    return { plan, changes: changes.map(({ op, id }) => `${op} ${id}`).sort() };
  } catch (error) {
    if (error instanceof ImportRefused) return error.problems;
    throw error;
  }
}

const forget = (game: string) =>
  rowsOf(
    archive.orm.em.fork(),
    sql`delete from codex_sources s using codex_branches b, codex_games g
        where b.id = s.branch_id and g.id = b.game_id and g.slug = ${game}`,
  );

/** All archive data of a game, without generated ids. */
async function contentOf(game: string): Promise<unknown> {
  const em = archive.orm.em.fork();
  const of = sql`join codex_games g on g.id = x.game_id and g.slug = ${game}`;
  const parts = [
    sql`select b.slug, e.key, d.hash, p.version, v.from_ord, v.to_ord, v.is_inherited
        from codex_versions v join codex_branches b on b.id = v.branch_id
        join codex_entities x on x.id = v.entity_id ${of} join codex_entities e on e.id = x.id
        join codex_patches p on p.id = v.patch_id
        left join codex_documents d on d.id = v.document_id`,
    sql`select x.slug, e.key, h.name, h.tags, h.data, h.search::text, p.version, d.hash
        from codex_head h join codex_branches x on x.id = h.branch_id ${of}
        join codex_entities e on e.id = h.entity_id join codex_patches p on p.id = h.patch_id
        join codex_documents d on d.id = h.document_id`,
    sql`select x.key, x.type, x.upstream_key from codex_entities x ${of}`,
    sql`select x.upstream_key, e.key from codex_upstream_keys x ${of}
        join codex_entities e on e.id = x.entity_id`,
    sql`select x.hash, x.body from codex_documents x ${of}`,
    sql`select x.slug, t.locale, t.from_ord, t.to_ord, t.hash, t.is_inherited
        from codex_texts t join codex_branches x on x.id = t.branch_id ${of}`,
    sql`select x.slug, g.generation, p.version, p.ord, p.revision, p.num_added, p.num_changed,
          p.num_removed
        from codex_patches p join codex_branches x on x.id = p.branch_id ${of}`,
  ];
  const lists = [];
  for (const part of parts)
    lists.push((await rowsOf(em, part)).map((row) => JSON.stringify(row)).sort());
  return lists;
}

async function follow(n: number): Promise<number> {
  const random = randomBelow(seed + n);
  const drafts = new Map<string, { version: string; draft: Draft }[]>();
  let refused = 0;
  for (let at = 0; at < stepsEach; at++) {
    const step = nextStep(random, drafts);
    const outcomes = [];
    for (const isForgotten of [true, false])
      outcomes.push(await run(`${isForgotten ? "forgotten" : "known"}-${n}`, step, isForgotten));
    assert.deepEqual(outcomes[1], outcomes[0], `history ${n}, step ${at}`);
    assert.deepEqual(
      await contentOf(`known-${n}`),
      await contentOf(`forgotten-${n}`),
      `history ${n}, step ${at}`,
    );
    if (Array.isArray(outcomes[0])) refused++;
    else note(drafts, step);
  }
  return refused;
}

describe(`imports with cached source texts (KNOWN_SEED=${seed})`, () => {
  before(async () => {
    archive = await startArchive();
    folder = mkdtempSync(join(tmpdir(), "ember-known-"));
  });
  after(async () => {
    await archive.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describe("in random histories", () => {
    it(`give the same result as full imports, in ${histories} histories`, async () => {
      let refused = 0;
      for (let n = 0; n < histories; n++) refused += await follow(n);
      assert.ok(refused > 0 && refused < (histories * stepsEach) / 2, `${refused} were refused`);
    });

    it("store the changes since the last full copy, and a new full copy when there are many changes", async () => {
      const draft = firstDraft();
      const note = async (version: string, change: (draft: Draft) => unknown) => {
        change(draft);
        await run("notes", { branch: { slug: "main" }, version, draft }, false);
        const rows = await rowsOf(
          archive.orm.em.fork(),
          sql<{ whole: string; entities: string; changes: string | null }>`
          select p.version_raw as whole, s.entities, c.changes
          from codex_sources s join codex_patches p on p.id = s.patch_id
          join codex_branches b on b.id = s.branch_id join codex_games g on g.id = b.game_id
          left join codex_source_changes c on c.branch_id = s.branch_id
            and c.source_patch_id = s.patch_id and c.source_revision = s.revision
          where g.slug = 'notes'`,
        );
        const keysOf = (facts: string) =>
          (JSON.parse(facts) as string[]).flatMap((fact, at) =>
            at % 4 === 0 ? fact.slice("id.item.".length) : [],
          );
        return rows.map(({ whole, entities, changes }) => ({
          whole,
          entities: keysOf(entities).join(""),
          changes: changes === null ? null : keysOf(changes).join(""),
        }));
      };
      const power =
        (at: number) =>
        ({ entities }: Draft) =>
          ((entities[at] ?? {})["data"] = { power: 70 + at });
      const all = { entities: "abcde" };
      assert.deepEqual(await note("1.0", () => {}), [{ ...all, whole: "1.0", changes: null }]);
      assert.deepEqual(await note("2.0", power(1)), [{ ...all, whole: "1.0", changes: "b" }]);
      const [third] = await note("3.0", ({ entities }) => entities.splice(2, 1));
      assert.deepEqual(third, { whole: "3.0", entities: "abde", changes: null });
      assert.deepEqual(await note("4.0", () => {}), [
        { whole: "3.0", entities: "abde", changes: "" },
      ]);
    });
  });
  describe("by their version", () => {
    it("prepare the same content for the same preparing version", async () => {
      const bytes = { hash: "a".repeat(64), mediaType: "image/png", bytes: 3, role: null };
      const { entities, english } = firstDraft();
      const context = {
        english,
        assets: {
          byPath: new Map<string, KnownAsset>([
            ["p0.png", bytes],
            ["p1.png", { ...bytes, role: "portrait" }],
          ]),
          byHash: async () => bytes,
          storeNew: async () => 0,
        },
        problems: new ProblemList(),
      };
      const unnamed = {
        type: "quest",
        upstream_key: "DesignDataQuest:Id_Quest_Far_Home_7",
        data: {},
      };
      const made = [];
      for (const [at, source] of [...entities, unnamed].entries()) {
        const prepared = await prepareEntity(source, at + 1, context);
        made.push({ ...prepared, ...prepared?.content() });
      }
      assert.equal(context.problems.count, 0);
      assert.deepEqual(
        {
          version: preparingVersion,
          made: hash("sha256", JSON.stringify(made), "hex").slice(0, 16),
        },
        { version: 4, made: "29fb5736147da6bc" },
        "raise preparingVersion, so that entities are read again, and write both here",
      );
    });

    it("read no entity whose text is unchanged, and read all when anything else has changed", async () => {
      const first = { branch: { slug: "main" }, version: "1.0", draft: firstDraft() };
      await run("reads", first, false);
      const read = async (draft: Draft) => {
        writeFileSync(join(folder, "reads", "e.json"), textOf("reads", { ...first, draft }));
        for (const [n, picture] of draft.pictures.entries())
          writeFileSync(join(folder, "reads", `p${n}.png`), picture);
        const source = await openEnvelopeFile(join(folder, "reads", "e.json"));
        const wanted: unknown[] = [];
        const entities: typeof source.entities = async function* (isWanted) {
          for await (const one of source.entities(isWanted)) {
            wanted.push(one.id);
            yield one;
          }
        };
        const options = { now: importTime, isDryRun: true };
        await importEnvelope(archive.orm.em.fork(), { ...source, entities }, options);
        return wanted.length;
      };
      const changed = (change: (draft: Draft) => unknown) => {
        const draft = firstDraft();
        change(draft);
        return read(draft);
      };
      assert.equal(await changed(() => {}), 0);
      assert.equal(await changed(({ entities }) => entities.reverse()), 0);
      assert.equal(await changed(({ entities }) => ((entities[3] ?? {})["tags"] = [])), 1);
      assert.equal(await changed((draft) => (draft.spelling = [{ blanks: " ", turn: 0 }])), 5);
      assert.equal(await changed(({ english }) => (english["more"] = "text")), 5);
      assert.equal(await changed(({ pictures }) => (pictures[1] = "else")), 5);
    });
  });
});

/** A new patch or a repeated one, on main or on a branch. */
function nextStep(random: Random, done: Map<string, { version: string; draft: Draft }[]>): Step {
  const main = done.get("main") ?? [];
  const isMain = main.length < 2 || random(3) > 0;
  const own = isMain ? main : (done.get("beta") ?? []);
  const fork = main.at(-1)?.version ?? "";
  const isNewBranch = !isMain && own.length === 0;
  const branch = isMain
    ? { slug: "main" }
    : { slug: "beta", ...(isNewBranch ? { parent: "main", fork_version: fork } : {}) };
  const again =
    own.length > 0 && random(2) === 0 ? own[random(4) === 0 ? 0 : own.length - 1] : null;
  const draft = copyOf((again ?? own.at(-1) ?? main.at(-1))?.draft ?? firstDraft());
  for (let n = random(4); n > 0; n--) pick(random, edits)(draft, random);
  const fresh = isMain ? `${main.length + 1}.0` : `1000.${own.length}`;
  return {
    branch,
    version: again?.version ?? (isNewBranch && random(2) === 0 ? fork : fresh),
    draft,
  };
}

function note(done: Map<string, { version: string; draft: Draft }[]>, step: Step): void {
  const slug = String(step.branch["slug"]);
  const own = done.get(slug) ?? [];
  done.set(slug, own);
  const { version, draft } = step;
  const known = own.find((one) => one.version === version);
  if (known === undefined) own.push({ version, draft });
  else known.draft = draft;
}
