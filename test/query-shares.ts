import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceFiles } from "./support/imports.ts";

/**
 * `node --import tsx test/query-shares.ts`: how queries are written, by folder. Counted are calls: those that hand a
 * text of SQL to the database, against those of the query builder and of the EntityManager.
 */
const kinds = {
  text: /\b(?:rowsOf|preparedRowsOf|inSlices|deleteWhere)(?:<[^(]*>)?\(|\bem\.execute\(|\.execute\(\w+(?:\.getKysely\(\))?\)/g,
  builder: /\b(?:findRows|findRow|changeRows|prepared)(?:<[^(]*>)?\(/g,
  entities:
    /\b(?:em|tx)\.(?:find|findOne|findAll|count|insert|insertMany|upsert|upsertMany|nativeUpdate|nativeDelete|persist|remove)\(/g,
};
type Counts = Record<keyof typeof kinds, number>;

/** They define those calls, or make schemas. */
const skipped =
  /^db\/(?:migrations\/|queries\/(?:rows|slices)\.ts|prepared\.ts|driver\.ts|orm\.ts)/;
const root = join(import.meta.dirname, "..");
const folders = new Map<string, Counts>();
const files = sourceFiles(root, ["server", "workers", "db"]);
for (const file of files.filter((one) => !skipped.test(one))) {
  const text = readFileSync(join(root, file), "utf8").replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  const counts = Object.entries(kinds).map(([kind, calls]) => [
    kind,
    text.match(calls)?.length ?? 0,
  ]);
  add(file.slice(0, file.lastIndexOf("/")), Object.fromEntries(counts) as Counts);
}

for (const [folder, counts] of [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  if (sum(counts) > 0) print(folder, counts);
const all: Counts = { text: 0, builder: 0, entities: 0 };
for (const { text, builder, entities } of folders.values()) {
  all.text += text;
  all.builder += builder;
  all.entities += entities;
}
print("all", all);

function add(folder: string, { text, builder, entities }: Counts): void {
  const known = folders.get(folder) ?? { text: 0, builder: 0, entities: 0 };
  folders.set(folder, {
    text: known.text + text,
    builder: known.builder + builder,
    entities: known.entities + entities,
  });
}

function sum({ text, builder, entities }: Counts): number {
  return text + builder + entities;
}

function print(folder: string, counts: Counts): void {
  const share = ((100 * counts.text) / sum(counts)).toFixed(0);
  const { text, builder, entities } = counts;
  process.stdout.write(
    `${folder.padEnd(32)} text ${text}, builder ${builder}, EntityManager ${entities}: ${share} % text\n`,
  );
}
