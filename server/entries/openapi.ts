import { Command } from "commander";
import { documentedRoutes, operatorDocument } from "../operator/routes.ts";
import { publicDocument } from "../features/docs/openapi-route.ts";
import { routes } from "../app/routes.ts";

/**
 * `npm run openapi [-- --operator]`: prints the document as JSON, without any service (BOOT-04). It lists
 * both listeners; each operation of the operator listener names its own server. With the option it lists
 * the operator listener only. `GET /openapi.json` of the public port omits it.
 */
const { operator } = new Command("openapi")
  .description("Print the OpenAPI document of both listeners")
  .option("--operator", "only the operator listener")
  .parse()
  .opts<{ operator?: true }>();
const document = operator ? operatorDocument() : publicDocument([...routes, ...documentedRoutes]);
// A closed pipe (`npm run openapi | head`) is no failure.
process.stdout.on("error", () => {});
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
