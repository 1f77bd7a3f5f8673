import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceFiles } from "./imports.ts";

/** Calls with raw SQL, of the query builder, and of the EntityManager. */
const kinds = {
  text: /\b(?:rowsOf|preparedRowsOf|preparedText|inBatches)(?:<[^(]*>)?\(|\bem\.execute\(|\.execute\(\w+\.getKysely\(\)\)/g,
  builder: /\b(?:findRows|findRow|changeRows|deleteWhere|prepared)(?:<[^(]*>)?\(/g,
  entities:
    /\b(?:em|tx)\.(?:find|findOne|findAll|count|insert|insertMany|upsert|upsertMany|nativeUpdate|nativeDelete|persist|remove)\(/g,
};
export type QueryCounts = Record<keyof typeof kinds, number>;

/** Files that define these calls or change schemas. */
const skipped =
  /^db\/(?:migrations\/|queries\/(?:rows|batches)\.ts|prepared\.ts|driver\.ts|orm\.ts)/;
const ownRoot = join(import.meta.dirname, "../..");

const queryFiles = (root: string) =>
  sourceFiles(root, ["server", "workers", "db"]).filter((file) => !skipped.test(file));
const withoutComments = (source: string) => source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");

/** A comment that says why a query is raw SQL. */
const reason = /^\s*(?:\/\/|\*|\/\*\*).*\bRaw SQL: /m;

/** Declarations with raw SQL that do not give a reason. */
export function listTextsWithoutReason(): string[] {
  return queryFiles(ownRoot).flatMap((file) =>
    readFileSync(join(ownRoot, file), "utf8")
      .split(/\n\n(?=\S)/)
      .filter((declaration) => withoutComments(declaration).search(kinds.text) >= 0)
      .filter((declaration) => !reason.test(declaration))
      .map((declaration) => `${file}: ${withoutComments(declaration).trim().split("\n", 1)[0]}`),
  );
}

/** Number of queries of each kind by folder, in this or another checkout. */
export function countQueries(root = ownRoot): Map<string, QueryCounts> {
  const folders = new Map<string, QueryCounts>();
  for (const file of queryFiles(root)) {
    const code = withoutComments(readFileSync(join(root, file), "utf8"));
    const count = (calls: RegExp) => code.match(calls)?.length ?? 0;
    const counts = {
      text: count(kinds.text),
      builder: count(kinds.builder),
      entities: count(kinds.entities),
    };
    const folder = file.slice(0, file.lastIndexOf("/"));
    folders.set(folder, addCounts(folders.get(folder) ?? noQueries, counts));
  }
  return folders;
}

export const noQueries: QueryCounts = { text: 0, builder: 0, entities: 0 };

export const addCounts = (a: QueryCounts, b: QueryCounts): QueryCounts => ({
  text: a.text + b.text,
  builder: a.builder + b.builder,
  entities: a.entities + b.entities,
});

/** Percentage of calls with raw SQL. */
export const textShare = ({ text, builder, entities }: QueryCounts): number =>
  (100 * text) / Math.max(1, text + builder + entities);
