import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clientTypes, eventTypes, pageTypes, type OpenApiDocument } from "../app/document-types.ts";
import { routes } from "../app/routes.ts";
import { publicDocument } from "../features/docs/openapi-route.ts";

/**
 * `node types.js <folder>`: writes the types of the OpenAPI document that the client and the pages import. Each build
 * runs it (`server/build.mjs`).
 */
const [folder = "."] = process.argv.slice(2);
const document = publicDocument(routes) as OpenApiDocument;
mkdirSync(folder, { recursive: true });
for (const [name, made] of [
  ["types.ts", clientTypes(document)],
  ["event-types.ts", eventTypes(document)],
  ["answers.ts", pageTypes(document)],
] as const) {
  const file = join(folder, name);
  // `npm run dev` restarts whenever a file below `server` is written.
  if (textOf(file) !== made) writeFileSync(file, made);
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
