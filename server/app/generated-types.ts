import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { asset } from "../platform/assets.ts";
import { publicDocument } from "../features/docs/openapi-route.ts";
import { joinClient } from "../web/join-client.mjs";
import { clientTypes, eventTypes, pageTypes, type OpenApiDocument } from "./document-types.ts";
import { routes } from "./routes.ts";

const document = publicDocument(routes) as OpenApiDocument;

const generators: readonly [file: string, make: () => string][] = [
  ["server/web/client/types.ts", () => clientTypes(document)],
  ["server/web/client/event-types.ts", () => eventTypes(document)],
  ["server/web/client/emberline.d.ts", () => declarationsOf(joinClient(asset("")))],
  ["server/web/answers.ts", () => pageTypes(document)],
];

/** Files generated from the OpenAPI document; each may depend on earlier ones. */
export const generatedFiles = generators.map(([file, make]) => {
  const path = asset(file);
  return { path, make: () => formatted(path, make()) };
});

async function formatted(path: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(path)), parser: "typescript" });
}

/** Type declarations that TypeScript projects need besides the script. */
function declarationsOf(source: string): string {
  const folder = mkdtempSync(join(tmpdir(), "ember-types-"));
  const options = "--declaration --emitDeclarationOnly --target es2023 --lib es2024,dom --types";
  const file = join(folder, "emberline.ts");
  const args = [...options.split(" "), "", "--ignoreConfig", "--outDir", folder, file];
  try {
    writeFileSync(file, source);
    const compiler = asset("node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [compiler, ...args], { encoding: "utf8" });
    return readFileSync(join(folder, "emberline.d.ts"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
