import {
  addCounts,
  countQueries,
  listTextsWithoutReason,
  noQueries,
  textShare,
} from "./support/query-shares.ts";

/** `npm run query:shares`: how queries are written, by folder, and texts without a reason. */
const folders = countQueries();
const all = [...folders.values()].reduce(addCounts, noQueries);
const sorted = [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1));
for (const [name, counts] of [...sorted, ["all", all] as const]) {
  const { text, builder, entities } = counts;
  if (text + builder + entities === 0) continue;
  const share = `${textShare(counts).toFixed(0)} % text`;
  process.stdout.write(
    `${name.padEnd(28)} text ${text}, builder ${builder}, EntityManager ${entities}: ${share}\n`,
  );
}
for (const place of listTextsWithoutReason()) process.stdout.write(`without a reason: ${place}\n`);
