import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readEnvelopes } from "../../../importers/envelope/envelope-folder.ts";
import { readExports } from "../../../importers/adapters/gamedata/adapter.ts";
import {
  ImportRefused,
  type EnvelopeHeader,
  type ImportEnvelope,
} from "../../../importers/envelope/contract.ts";
import { envelope } from "../../support/archive.ts";

const folder = mkdtempSync(join(tmpdir(), "ember-order-"));

type Branch = EnvelopeHeader["branch"];

type Patch = readonly [branch: Branch, version: string];

let folders = 0;

/** The patches as envelope files, named in order. */
function envelopesOf(headers: readonly object[]): AsyncIterable<ImportEnvelope> {
  const path = join(folder, `${folders++}`);
  mkdirSync(path);
  for (const [index, header] of headers.entries())
    writeFileSync(
      join(path, `${index}.json`),
      JSON.stringify({ ...header, entities: [], locales: {} }),
    );
  return readEnvelopes(path);
}

const fromFiles = (patches: readonly Patch[]) =>
  envelopesOf(patches.map(([branch, version]) => envelope({ branch, version }).header));

/** The patches as the game's exporter writes them. */
function fromExports(patches: readonly Patch[]): AsyncIterable<ImportEnvelope> {
  const files = new Map<string, unknown>();
  for (const [{ slug: branch, ...origin }, version] of patches) {
    files.set(`${branch}/${version}/export.json`, { version, branch, ...origin });
    files.set(`${branch}/${version}/Content/Localization/Game/en/Game.json`, {});
  }
  const tree = {
    paths: async () => [...files.keys()].sort(),
    read: async (path: string) => new TextEncoder().encode(JSON.stringify(files.get(path))),
  };
  return readExports(tree, { game: "gamedata", knownIds: async () => new Map() });
}

async function orderOf(source: AsyncIterable<ImportEnvelope>): Promise<string> {
  const order = [];
  for await (const { header } of source)
    order.push(`${header.branch.slug}@${header.patch.version_raw}`);
  return order.join(" ");
}

const main: Branch = { slug: "main" };

describe("the order of patches", () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, read] of [
    ["envelopes of a folder", fromFiles],
    ["exports of the game", fromExports],
  ] as const)
    describe(name, () => {
      it("are sorted oldest first, a branch after the branch it left", async () => {
        const patches: Patch[] = [
          [main, "10.0"],
          [{ slug: "a", parent: "c", fork_version: "1.1" }, "1.1.1"],
          // Only the first patch of a branch must name its parent.
          [{ slug: "a" }, "1.2"],
          [{ slug: "c", parent: "b", fork_version: "1.0" }, "1.1"],
          [{ slug: "b", parent: "main", fork_version: "1.0" }, "1.2"],
          [main, "1.0"],
        ];
        assert.equal(await orderOf(read(patches)), "main@1.0 main@10.0 b@1.2 c@1.1 a@1.1.1 a@1.2");
      });

      it("are sorted in some order when no branch is the first", async () => {
        const patches: Patch[] = [
          [{ slug: "a", parent: "b", fork_version: "1.0" }, "1.0"],
          [{ slug: "b", parent: "a", fork_version: "1.0" }, "1.0"],
        ];
        assert.equal(await orderOf(read(patches)), "a@1.0 b@1.0");
      });

      it("are all refused when one has no version to sort by", async () => {
        const source = read([
          [main, "2.0"],
          [main, "beta"],
          [main, "1.0"],
        ]);
        await assert.rejects(orderOf(source), (error) => {
          assert.ok(error instanceof ImportRefused);
          assert.deepEqual(
            error.problems.map(({ place }) => place),
            ["patch.version_raw"],
          );
          assert.match(error.message, /beta/);
          return true;
        });
      });
    });
  describe("a folder of envelopes", () => {
    it("is refused with the names of the files whose header has no version", async () => {
      const valid = envelope().header;
      const headers = [
        valid,
        {},
        { ...valid, patch: null },
        { ...valid, patch: { version_raw: 5, released_at: null } },
        { ...valid, patch: { ...valid.patch, canonical: "1.0" } },
      ];
      await assert.rejects(orderOf(envelopesOf(headers)), (error) => {
        assert.ok(error instanceof ImportRefused);
        assert.deepEqual(
          [...new Set(error.problems.map(({ entity }) => entity))],
          ["1.json", "2.json", "3.json", "4.json"],
        );
        return true;
      });
    });
  });
});
