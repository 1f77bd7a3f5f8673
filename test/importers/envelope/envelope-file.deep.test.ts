import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import {
  maxAssets,
  maxEntities,
  type ImportEnvelope,
} from "../../../importers/envelope/contract.ts";
import { openEnvelopeFile } from "../../../importers/envelope/envelope-file.ts";
import { envelope } from "../../support/archive.ts";

const { header } = envelope();

describe("an envelope file of many megabytes", () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-envelope-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("does not fill memory with unknown members or endless lists", async () => {
    const bulk = `"${"x".repeat(20_000_000)}"`;
    const text = JSON.stringify(header).slice(0, -1);
    const whole = `${text},"bulk":${bulk},"entities":[],"__proto__":[${bulk}]}`;
    writeFileSync(path("bulk.json.gz"), gzipSync(whole, { level: 1 }));
    const read = await openEnvelopeFile(path("bulk.json.gz"));
    assert.deepEqual(read.header, header);
    assert.deepEqual(
      read.problems?.map(({ place, problem }) => `${place} ${problem}`),
      [
        "locales is missing",
        "bulk is no member of an envelope",
        "__proto__ is no member of an envelope",
      ],
    );
    for (const [list, most] of Object.entries({ assets: maxAssets, entities: maxEntities })) {
      // It is refused before its end, which is missing.
      const endless = `{"${list}":[0${",0".repeat(most)},`;
      writeFileSync(path("endless.json.gz"), gzipSync(endless, { level: 1 }));
      await assert.rejects(openEnvelopeFile(path("endless.json.gz")), {
        name: "ImportRefused",
        message: new RegExp(`${list} are more than ${most}`),
      });
    }
  });

  it("is refused before it is read when its nesting is endless", async () => {
    const { format, game, branch, patch } = header;
    const whole = JSON.stringify({ format, game, branch, patch, entities: [0], locales: {} });
    const deep = `${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}`;
    for (const [from, place] of [
      ["0]", "entities[0]"],
      ["{}}", "locales"],
    ] as const) {
      writeFileSync(path("deep.json"), whole.replace(from, `${deep}${from.slice(-1)}`));
      await assert.rejects(
        openEnvelopeFile(path("deep.json")).then(readAll),
        new RegExp(`at ${place.replace(/[[\]]/g, "\\$&")}: is nested deeper than 128 levels`),
      );
    }
  });
});

async function readAll({ entities }: ImportEnvelope): Promise<void> {
  for await (const _entity of entities());
}
