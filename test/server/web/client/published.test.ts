import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { acceptedDigest, changesBetween, digestOf, publishedFiles } from "./declarations.ts";

const files = publishedFiles();
const published: Readonly<Record<string, string>> = Object.fromEntries(
  ["emberline.js", "emberline.ts", "emberline.d.ts"].map((name) => [
    name,
    files.get(`client/${name}`) ?? "",
  ]),
);
const exported =
  /^export (?:declare |async |abstract )*(class|const|function|interface|type) (\w+)/gm;

/** Names that users of a file can import. */
function namesOf(file: string, kinds = /./): string[] {
  const found = Array.from(published[file]?.matchAll(exported) ?? []);
  return found.flatMap(([, kind = "", name = ""]) => (kinds.test(kind) ? [name] : [])).toSorted();
}

describe("the published client", () => {
  for (const [file, text] of Object.entries(published))
    it(`is one file, which begins with what it is: ${file}`, () => {
      assert.match(text, /^\/\*!\n \* The trivia lobbies of an emberline service/);
      assert.equal(text.match(/^\/\*!/gm)?.length, 1);
      assert.doesNotMatch(text, /^import\b|\bimport\(|\brequire\(| from "/m);
    });

  it("has the accepted declarations; `npm run client:accept` accepts others", () => {
    const digest = digestOf(published["emberline.d.ts"] ?? "");
    assert.deepEqual(changesBetween(acceptedDigest(), digest), []);
  });

  it("exports the same names as source and as types", () => {
    assert.deepEqual(namesOf("emberline.ts"), namesOf("emberline.d.ts"));
  });

  it("exports the values of its types, and no other, as a script", async () => {
    const script = Buffer.from(published["emberline.js"] ?? "").toString("base64");
    const client: Record<string, unknown> = await import(`data:text/javascript;base64,${script}`);
    assert.deepEqual(
      Object.keys(client).toSorted(),
      namesOf("emberline.d.ts", /class|const|function/),
    );
    for (const [name, value] of Object.entries(client))
      if (typeof value === "function") assert.equal(value.name, name);
  });
});
