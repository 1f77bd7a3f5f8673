import { walks } from "./support/walks.ts";

/** `node --import tsx test/walks.ts`: prints the files between a request and its commit, in reading order. */
for (const { request, stops } of walks) {
  process.stdout.write(`${request}: ${stops.length} files\n`);
  for (const { file, symbol } of stops) process.stdout.write(`  ${file}  ${symbol}\n`);
}
