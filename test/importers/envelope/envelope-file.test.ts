import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { ImportRefused, type ImportEnvelope } from "../../../importers/envelope/contract.ts";
import { openEnvelopeFile } from "../../../importers/envelope/envelope-file.ts";
import { JsonSplitter, textOf } from "../../../importers/envelope/json-splitter.ts";
import { writeEnvelopeFile } from "../../../importers/envelope/write-envelope.ts";
import { entity, envelope } from "../../support/archive.ts";
import { fc } from "../../support/seed.ts";

/** Pieces of a document that arrives in chunks of this many bytes. */
function split(text: string, chunk: number): unknown {
  const splitter = new JsonSplitter((member) => ({
    maxBytes: 100_000,
    isStreamed: member === "list",
  }));
  const bytes = Buffer.from(text);
  const members: Record<string, unknown> = {};
  const list: unknown[] = [];
  for (let at = 0; at < bytes.length; at += chunk)
    for (const piece of splitter.push(bytes.subarray(at, at + chunk))) {
      const { member, index } = piece;
      const value: unknown = JSON.parse(textOf(piece));
      if (index === null) Object.defineProperty(members, member, { value, enumerable: true });
      else assert.equal(list.push(value) - 1, index);
    }
  splitter.end();
  return { members, list };
}

async function contentOf(source: ImportEnvelope) {
  const entities = [];
  for await (const one of source.entities()) entities.push(one);
  return { header: source.header, locales: source.locales, entities };
}

describe("cutting a document into pieces", () => {
  it("returns what JSON.parse returns, wherever the chunks end", () => {
    const value = fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" });
    const members = fc.dictionary(fc.string({ unit: "grapheme" }), value, { maxKeys: 4 });
    const input = fc.tuple(members, fc.array(value), fc.integer({ min: 1, max: 9 }), fc.boolean());
    fc.assert(
      fc.property(input, ([before, list, chunk, isSpaced]) => {
        const { list: _list, ...rest } = before;
        const text = JSON.stringify({ ...rest, list }, null, isSpaced ? 1 : 0);
        const parsed = JSON.parse(text) as { list: unknown[] };
        const { list: expected, ...members } = parsed;
        assert.deepEqual(split(text, chunk), { members, list: expected });
      }),
      { numRuns: 300 },
    );
  });

  it("refuses text that is not such a document", () => {
    const wrong = ["", "[]", "{", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1}x', '{"list":[1,]}'];
    wrong.push('{"list":[],"list":[]}', '{"a":1,"a":1}', `{"${"a".repeat(2_000)}":1}`);
    wrong.push(`{"a":"${"x".repeat(100_000)}"}`, `{"list":["${"x".repeat(100_000)}"]}`);
    wrong.push('{"list":[1 2]}', '{"a":1 "b":2}', '{"a":nul}', '{"a":"x', '{,"a":1}', '{"a":1}}');
    for (const text of wrong) assert.throws(() => split(text, 3), SyntaxError, text);
    const invalid = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    assert.throws(
      () => [...new JsonSplitter(() => ({ maxBytes: 100 })).push(invalid)].map(textOf),
      /not UTF-8/,
    );
  });

  it("keeps nothing of the members without a rule", () => {
    const value = fc.json({ maxDepth: 3 });
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 9 }), (other, chunk) => {
        const splitter = new JsonSplitter((name) => (name === "a" ? { maxBytes: 9 } : undefined));
        const bytes = Buffer.from(`{"b":${other},"a":"kept","b":${other} }`);
        const pieces = [];
        for (let at = 0; at < bytes.length; at += chunk)
          pieces.push(...splitter.push(bytes.subarray(at, at + chunk)));
        splitter.end();
        assert.deepEqual(pieces.map(textOf), ['"kept"']);
      }),
      { numRuns: 100 },
    );
  });
});

let folder: string;
const path = (name: string) => join(folder, name);

const source = envelope({
  version: "1.0",
  entities: [
    entity("id.item.a", { icon: "x/a.png", data: { text: 'a "b" \\ {[' } }),
    entity("id.item.b", { assets: ["x/a.png", { path: "x/b.png", role: "portrait" }] }),
  ],
  assets: [
    { path: "x/a.png", media_type: "image/png" },
    { path: "x/b.png", media_type: "image/png" },
  ],
  files: { "x/a.png": Buffer.from("1"), "x/b.png": Buffer.from("1") },
  locales: { en: { k: "text" } },
});

describe("an envelope file", () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ember-envelope-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  describe("in valid form", () => {
    it("is read back as it was written, compressed or not, with its assets beside it", async () => {
      for (const name of ["one.json", "two.json.gz"]) {
        await writeEnvelopeFile(source, path(name));
        const read = await openEnvelopeFile(path(name));
        const { header, locales, entities } = await contentOf(read);
        assert.deepEqual({ header, locales }, { header: source.header, locales: source.locales });
        // Equal pictures are one file.
        assert.equal(read.assets.length, 1);
        const file = read.assets[0]?.path ?? "";
        assert.deepEqual(Buffer.from(await read.readAsset(file)), Buffer.from("1"));
        assert.equal(entities[0]?.icon, file);
        assert.deepEqual(entities[1]?.assets, [file, { path: file, role: "portrait" }]);
        assert.equal(read.entityCount, 2);
        assert.deepEqual(await contentOf(read), { header, locales, entities });
      }
    });

    it("reads no asset outside its folder", async () => {
      mkdirSync(path("in"));
      writeFileSync(path("secret"), "s");
      symlinkSync(path("secret"), path("in/link"));
      writeFileSync(path("in/e.json"), "{}");
      const read = await openEnvelopeFile(path("in/e.json"));
      for (const asset of ["../secret", path("secret"), "link", "..\\secret", "a/../../secret"])
        await assert.rejects(read.readAsset(asset), /leads out/, asset);
      await assert.rejects(read.readAsset("none"), /is not there/);
      await assert.rejects(read.readAsset("."), /leads out|is no file/);
    });
  });
  describe("in invalid form", () => {
    it("reports a duplicate member at any position", async () => {
      const { format, game, branch, patch } = source.header;
      const whole = JSON.stringify({ format, game, branch, patch, entities: [0], locales: {} });
      const one = (more: string) => `{"upstream_key":"a","type":"item","data":{}${more}}`;
      const cases = [
        [`"slug":"${game.slug}"`, `"slug":"x","slug":"${game.slug}"`, "at game: slug comes twice"],
        [
          '"version_raw":',
          '"version_raw":"0.9","version_raw":',
          "at patch: version_raw comes twice",
        ],
        ["[0]", `[${one("")},${one(',"data":{"a":1}')}]`, "at entities[1]: data comes twice"],
        ["[0]", `[${one(',"id":"a","\\u0069d":"b"')}]`, "at entities[0]: id comes twice"],
        ["[0]", `[${one(',"tags":["a"],"tags":[]')}]`, "at entities[0]: tags comes twice"],
        ["[0]", `[${one(',"links":[{"rel":"a","rel":"b"}]')}]`, "links[0].rel comes twice"],
        ["[0]", `[${one(',"name":{"a":[[],{"b":1,"c":2,"b":1}]}')}]`, "name.a[1].b comes twice"],
        ["[0]", '[],"assets":[{"path":"a","path":"b"}]', "at assets[0]: path comes twice"],
        ['"locales":{}', '"locales":{"en":{"a":"b"},"en":{}}', "at locales: en comes twice"],
        ['"locales":{}', '"locales":{"en":{"a":"b","a":"c"}}', "at locales: en.a comes twice"],
        ['"locales":{}', '"locales":{},"locales":{}', "locales comes twice"],
      ];
      for (const [from = "", to = "", problem = ""] of cases) {
        writeFileSync(path("twice.json"), whole.replace(from, to));
        const error: unknown = await openEnvelopeFile(path("twice.json"))
          .then(contentOf)
          .then(
            () => null,
            (reason: unknown) => reason,
          );
        assert.ok(error instanceof ImportRefused, to);
        assert.ok(error.message.endsWith(problem), error.message);
      }
    });

    it("may begin with a byte order mark, compressed or not", async () => {
      await writeEnvelopeFile(source, path("plain.json"));
      const whole = Buffer.concat([Buffer.from("\ufeff"), readFileSync(path("plain.json"))]);
      writeFileSync(path("marked.json"), whole);
      writeFileSync(path("marked.json.gz"), gzipSync(whole));
      const expected = await contentOf(await openEnvelopeFile(path("plain.json")));
      for (const name of ["marked.json", "marked.json.gz"])
        assert.deepEqual(await contentOf(await openEnvelopeFile(path(name))), expected);
      const wrong = Buffer.concat([Buffer.from([0xef, 0xbb]), Buffer.from("{}")]);
      writeFileSync(path("half.json"), wrong);
      await assert.rejects(openEnvelopeFile(path("half.json")), /not an object/);
    });

    it("is not written when a value would change in the file", async () => {
      const odd = envelope({
        entities: [entity("id.item.a", { data: { list: [1, Number.NaN] } })],
      });
      await assert.rejects(writeEnvelopeFile(odd, path("odd.json")), {
        name: "ImportRefused",
        message: /id\.item\.a at data\.list\[1\]: is a number that cannot be kept exactly/,
      });
      const gone = envelope({ assets: [{ path: "x/none.png", media_type: "image/png" }] });
      await assert.rejects(writeEnvelopeFile(gone, path("odd.json")), {
        name: "ImportRefused",
        message: /asset x\/none\.png: is not there/,
      });
    });

    it("is refused with the reason when it is not an envelope", async () => {
      const cases: [string, string | Buffer, RegExp][] = [
        ["a.json", "[]", /not an object/],
        ["b.json", '{"format":1,"format":1}', /comes twice/],
        ["c.json", '{"entities":{}}', /not a list/],
        ["d.json", '{"locales":3}', /no object/],
        ["g.json", '{"assets":3}', /assets is not a list/],
        ["h.json", '{"assets":[],"assets":[]}', /comes twice/],
        ["i.json", `{"patch":"${"x".repeat(70_000)}"}`, /a value of patch has more than/],
        ["e.json.gz", gzipSync("{}").subarray(0, 12), /unexpected end|early/i],
        ["f.json", '{"game":{"slug":}}', /game/],
      ];
      for (const [name, content, problem] of cases) {
        writeFileSync(path(name), content);
        await assert.rejects(openEnvelopeFile(path(name)), (error) => {
          assert.ok(error instanceof ImportRefused, name);
          assert.match(error.message, problem);
          return true;
        });
      }
      await assert.rejects(openEnvelopeFile(path("none.json")), /no such file/);
    });
  });
});
