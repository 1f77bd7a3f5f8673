import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { asset } from "../platform/assets.ts";
import { publicDocument } from "../features/pages/openapi-route.ts";
import { pageTypes, withClientTypes, type InterfaceDocument } from "./document-types.ts";
import { routes } from "./routes.ts";

const document = publicDocument(routes) as InterfaceDocument;
const client = asset("server/web/client/emberline.ts");

/** Files generated from the OpenAPI document; each may depend on earlier ones. */
export const generatedFiles: readonly { path: string; make: () => Promise<string> }[] = [
  {
    path: client,
    make: () => formatted(client, withClientTypes(readFileSync(client, "utf8"), document)),
  },
  {
    path: asset("server/web/client/emberline.d.ts"),
    make: () => formatted(client, declarationsOf(client)),
  },
  {
    path: asset("server/web/answers.ts"),
    make: () => formatted(client, pageTypes(document)),
  },
];

async function formatted(path: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(path)), parser: "typescript" });
}

/** Type declarations that TypeScript projects need besides the script. */
function declarationsOf(path: string): string {
  const folder = mkdtempSync(join(tmpdir(), "ember-types-"));
  const options = "--declaration --emitDeclarationOnly --target es2023 --lib es2024,dom --types";
  const args = [...options.split(" "), "", "--ignoreConfig", "--outDir", folder, path];
  try {
    execFileSync(asset("node_modules/.bin/tsc"), args, { encoding: "utf8" });
    return readFileSync(join(folder, "emberline.d.ts"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
