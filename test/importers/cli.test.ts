import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openEnvelopeFile } from "../../importers/envelope/envelope-file.ts";
import { sampleTree } from "../../importers/samples/cinderhold/sample.ts";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createQueues } from "../../workers/producer.ts";
import { codexImport, type PayloadOf } from "../../workers/queues.ts";
import { entity, envelope, startArchive, type Archive } from "../support/archive.ts";
import { endOf, ImportCommand } from "./import-command.ts";

const many = 4_000;

let archive: Archive;
let folder: string;
const file = (name: string) => join(folder, name);
let command: ImportCommand;
const run = (...args: string[]) => command.run(...args);

describe("npm run import", () => {
  before(async () => {
    archive = await startArchive();
    folder = mkdtempSync(join(tmpdir(), "ember-import-"));
    command = new ImportCommand(archive, file("data"));
    const big = Array.from({ length: many }, (_, n) =>
      entity(`id.item.n${n}`, { data: { n, text: "x".repeat(400) } }),
    );
    const entities = [entity("id.item.a"), entity("id.item.b")];
    await writeEnvelopeFile(envelope({ game: "big", entities: big }), file("big.json.gz"));
    await writeEnvelopeFile(envelope({ game: "dun", version: "2.0" }), file("dun/a.json"));
    await writeEnvelopeFile(envelope({ game: "dun", entities }), file("dun/b.json.gz"));
  });
  after(async () => {
    await archive.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("imports the envelopes of a folder, oldest patch first, and nothing the second time", async () => {
    const args = ["dun", file("dun"), "--json", "--allow-shrink"];
    const dry = await run(...args, "--dry-run");
    assert.equal(dry.code, 0, dry.problems);
    const first = await run(...args);
    assert.equal(first.code, 0, first.problems);
    assert.equal(dry.out, first.out, "a dry run says the same, and leaves nothing");
    const reports = (out: string) =>
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const names = { game: "dun", branch: "main" };
    assert.deepEqual(reports(first.out), [
      { ...names, patch: "1.0.0+build.0", added: 2, changed: 0, removed: 0, unchanged: 0 },
      { ...names, patch: "2.0.0+build.0", added: 0, changed: 0, removed: 2, unchanged: 0 },
    ]);
    const again = await run("dun", file("dun"));
    assert.match(again.out, /0 added, 0 changed, 0 removed, 2 unchanged/);
  });

  it("writes one envelope file per patch, and hands one to the running service", async () => {
    const written = await run("dun", file("dun"), "--write-envelope", file("out/e.json.gz"));
    assert.equal(written.problems, "");
    const names = ["e.json.gz", "e-2.json.gz"].map((name) => file(`out/${name}`));
    assert.deepEqual(written.out.trim().split("\n"), [
      `${names[0]}  main 1.0`,
      `${names[1]}  main 2.0`,
    ]);
    const headers = await Promise.all(names.map((name) => openEnvelopeFile(name)));
    assert.deepEqual(
      headers.map(({ header, entityCount }) => [header.patch.version_raw, entityCount]),
      [
        ["1.0", 2],
        ["2.0", 0],
      ],
    );
    const queued = await run("--queue", "--allow-shrink", "--envelope", names[0] ?? "");
    assert.equal(queued.code, 0, queued.problems);
    const queues = createQueues(archive.stores.redisUrl, silentLogger);
    try {
      const queue = queues.all().find(({ name }) => name === codexImport.name);
      const job = await queue?.getJob(queued.out.trim());
      assert.ok(job);
      const { game, envelope: path, allowShrink } = job.data as PayloadOf<typeof codexImport>;
      assert.deepEqual([game, path, allowShrink], ["dun", names[0], true]);
    } finally {
      await queues.close();
    }
    const lost = await run("dun", file("dun"), "--queue");
    assert.deepEqual([lost.code, lost.problems], [1, "--queue needs --envelope\n"]);
  });

  it("says in one line what is not there", async () => {
    const [missing, unreachable] = [file("missing"), "postgres://a:b@127.0.0.1:1/c"];
    const ended = [
      [run("dun", missing), `${missing}: there is no such folder`],
      [run("--queue", "--envelope", missing), `${missing}: there is no such file`],
      [run("--envelope", folder), `  ${basename(folder)}: there is no such file`],
      [
        endOf(command.startAt(unreachable, "dun", file("dun"))),
        "the database (DATABASE_URL) cannot be prepared: connect ECONNREFUSED 127.0.0.1:1",
      ],
    ] as const;
    for (const [end, problem] of ended) {
      const { code, problems } = await end;
      const lines = problems.trimEnd().split("\n");
      assert.deepEqual([code, lines.at(-1), lines.length < 3], [1, problem, true], problems);
    }
  });

  it("writes the sample game as files that its adapter reads", async () => {
    const { out, problems } = await run("--write-sample", file("sample"));
    const tree = sampleTree();
    const paths = await tree.paths();
    assert.deepEqual([out, problems], [`${paths.length} files\n`, ""]);
    for (const path of [paths[0], paths.find((one) => one.endsWith(".png"))])
      assert.deepEqual(
        readFileSync(file(join("sample", path ?? ""))),
        Buffer.from(await tree.read(path ?? "")),
      );
  });

  describe("with --plan", withPlan);

  it("says in a dry run what would change, and refuses with a list", async () => {
    const dry = await run("--envelope", file("big.json.gz"), "--dry-run");
    assert.equal(dry.problems, "");
    assert.match(dry.out, /^\+ id\.item\.n0\n[^]*4000 added.*dry run/);
    const wrong = await run("other", file("dun"));
    assert.deepEqual([wrong.code, wrong.problems], [1, "b.json.gz is of dun, not of other\n"]);
  });
});

function withPlan(): void {
  it("prints the plan as text and as JSON, writes nothing, and has none after the import", async () => {
    const entities = [entity("id.item.a"), entity("id.monster.b")];
    await writeEnvelopeFile(envelope({ game: "planned", entities }), file("planned.json"));
    const args = ["--envelope", file("planned.json")];
    const before = await archive.traces();
    const text = await run(...args, "--plan");
    assert.deepEqual([text.code, text.problems], [0, ""]);
    assert.match(text.out, /^planned main 1\.0\.0\+build\.0: new patch\n {2}type .*\n {2}item +1 /);
    assert.match(text.out, /2 added, 0 changed, 0 removed, 0 unchanged \(nothing written\)\n$/);
    const json = await run(...args, "--plan", "--json");
    assert.deepEqual(await archive.traces(), before);
    const report = await run(...args, "--json");
    const [planned, imported] = [json, report].map(({ out }) => JSON.parse(out) as object);
    assert.deepEqual(planned, {
      ...imported,
      action: "create",
      fork: null,
      renamed: 0,
      types: {
        item: { added: 1, changed: 0, removed: 0 },
        monster: { added: 1, changed: 0, removed: 0 },
      },
      texts: [],
      assets: { added: 0, bytes: 0 },
      rebuild: { entities: 2, projection: false },
      changes: [
        { op: "added", id: "id.item.a" },
        { op: "added", id: "id.monster.b" },
      ],
      omitted: 0,
    });
    const again = await run(...args, "--plan");
    assert.match(again.out, /: nothing to write\n.*0 added, 0 changed, 0 removed, 2 unchanged/);
  });

  it("plans the patches of a folder one after the other, and writes none", async () => {
    const folderArgs = ["folder", file("folder"), "--allow-shrink"];
    const entities = [entity("id.item.a"), entity("id.item.b")];
    for (const [version, count] of [
      ["1.0", 2],
      ["2.0", 1],
    ] as const)
      await writeEnvelopeFile(
        envelope({ game: "folder", version, entities: entities.slice(0, count) }),
        file(`folder/${version}.json`),
      );
    const before = await archive.traces();
    const { out, code } = await run(...folderArgs, "--plan", "--json");
    assert.equal(code, 0);
    assert.deepEqual(
      out
        .trim()
        .split("\n")
        .map((line) => {
          const { patch, added, removed } = JSON.parse(line) as Record<string, unknown>;
          return { patch, added, removed };
        }),
      [
        { patch: "1.0.0+build.0", added: 2, removed: 0 },
        { patch: "2.0.0+build.0", added: 0, removed: 1 },
      ],
    );
    assert.deepEqual(await archive.traces(), before);
  });

  it("lists the problems of a bad file instead of a plan, and fails", async () => {
    const entities = [
      entity("id.item.a"),
      entity("id.item.a"),
      entity("id.item.b", { icon: "no" }),
    ];
    await writeEnvelopeFile(envelope({ game: "bad", entities }), file("bad.json"));
    for (const more of [[], ["--json"]]) {
      const { code, out, problems } = await run("--envelope", file("bad.json"), "--plan", ...more);
      assert.deepEqual([code, out], [1, ""]);
      assert.deepEqual(problems.trimEnd().split("\n"), [
        "import:refused 2 problems",
        "  id.item.a: comes twice, again as Id_item_a",
        "  id.item.b at icon: no is no asset of this or an earlier import",
      ]);
    }
  });
}
