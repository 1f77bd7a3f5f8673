import { readFileSync } from "node:fs";
import { buildOpenApi } from "./http/openapi.ts";
import { operatorDocument } from "./operator/routes.ts";
import { routes } from "./routes.ts";

/** `npm run openapi [-- --operator]`: the document as JSON, without any service (BOOT-04). */
const manifest: unknown = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
);
const version = String((manifest as { version?: unknown }).version);
const isOperator = process.argv.includes("--operator");
const document = isOperator
  ? operatorDocument()
  : buildOpenApi(routes, { version, title: "emberline" });
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
