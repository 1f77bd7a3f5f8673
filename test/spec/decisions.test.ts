import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "server/decisions");
const areas = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");

/** Ids of rules and promises, as cited by code and documents. */
const idPattern = /\b(?:[A-Z]{2,5}-\d{2}|S\d{1,2})\b/g;
/** Benchmarks also name their aims; elsewhere such a text may be anything. */
const aimPattern = /\bA\d{1,2}\b/g;
/** Text of the same form that is not an id. */
const otherTexts: ReadonlySet<string> = new Set(["UTF-16", "UTC-12", "GMT-14"]);
const cited = ["server", "workers", "actors", "importers", "db", "bench", "test"].map(
  (part) => `${part}/**/*.{ts,js,mjs,lua,sql,html,md}`,
);

/** Area -> its records, each as the text below its heading. */
const records = new Map(areas.map((area) => [area, recordsOf(area)]));
const known = new Set([...records.values()].flatMap((some) => some.map(({ id }) => id)));

function recordsOf(area: string): { id: string; text: string }[] {
  const [, ...parts] = readFileSync(join(folder, area), "utf8").split(/^### /m);
  return parts.map((part) => {
    const [id = "", ...lines] = part.split(/^## /m, 1).join("").split("\n");
    return { id, text: lines.join("\n").trim() };
  });
}

function citations(): [file: string, id: string][] {
  const files = [...globSync([...cited, "*.md", ".github/**/*.md"], { cwd: root })];
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const aims = file.startsWith("bench/") ? (text.match(aimPattern) ?? []) : [];
    const found = new Set([...(text.match(idPattern) ?? []), ...aims]);
    return [...found].map((id): [string, string] => [file, id]);
  });
}

describe("the decision records", () => {
  it("cover every id cited in code, tests and documents", () => {
    const missing = citations()
      .filter(([, id]) => !known.has(id) && !otherTexts.has(id))
      .map(([file, id]) => `${file} cites ${id}`);
    assert.deepEqual(missing, []);
  });

  it("contain each id once, as its own heading with a titled text", () => {
    const all = [...records.values()].flat();
    assert.equal(all.length, known.size);
    const broken = all.filter(
      ({ id, text }) =>
        !new RegExp(`^(?:${idPattern.source}|${aimPattern.source})$`).test(id) ||
        !/^\*\*[^*]+\.\*\* \S[^#]*$/.test(text),
    );
    assert.deepEqual(broken, []);
  });

  it("keep all ids of one kind in one file, which the index lists", () => {
    const index = readFileSync(join(folder, "README.md"), "utf8");
    const kindOf = (id: string) => id.replace(/-?\d+$/, "");
    for (const [area, some] of records) {
      const row = index.split("\n").find((line) => line.includes(`](${area})`)) ?? "";
      const kinds = [...new Set(some.map(({ id }) => kindOf(id)))];
      assert.equal(row.split("|")[2]?.trim(), kinds.join(", "), area);
    }
  });

  it("name only files and folders that exist, as do the contributor guides", () => {
    const pages = globSync(["server/decisions/*.md", ".github/*.md"], { cwd: root });
    const path = /`((?:server|workers|actors|importers|db|bench|test)\/[\w./-]+)`/g;
    const missing = pages.flatMap((page) => {
      const named = [...readFileSync(join(root, page), "utf8").matchAll(path)];
      return named
        .filter(([, name = ""]) => !existsSync(join(root, name)))
        .map(([, name]) => `${page} names ${name}`);
    });
    assert.deepEqual(missing, []);
  });
});
