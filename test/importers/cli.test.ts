import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openEnvelopeFile } from "../../importers/envelope/envelope-file.ts";
import { sampleTree } from "../../importers/samples/cinderhold/sample.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createQueues } from "../../workers/producer.ts";
import { codexImport, type PayloadOf } from "../../workers/queues.ts";
import { importScene } from "./import-command.ts";

describe("npm run import", () => {
  const { archive, file, run } = importScene();

  it("imports the envelopes of a folder, oldest patch first, and changes nothing the second time", async () => {
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

  it("writes one envelope file per patch, and sends one to the running service", async () => {
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
    const queues = createQueues(archive().stores.redisUrl, silentLogger);
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

  it("reports in a dry run what would change, and refuses with a list of problems", async () => {
    const dry = await run("--envelope", file("big.json.gz"), "--dry-run");
    assert.equal(dry.problems, "");
    assert.match(dry.out, /^\+ id\.item\.n0\n[^]*4000 added.*dry run/);
    const wrong = await run("other", file("dun"));
    assert.deepEqual([wrong.code, wrong.problems], [1, "b.json.gz is of dun, not of other\n"]);
  });
});
