import { operatorDocument } from "./operator/routes.ts";
import { declaredRoutes } from "./operator/declared.ts";
import { publicDocument } from "./pages/openapi-route.ts";
import { routes } from "./routes.ts";

/**
 * `npm run openapi [-- --operator]`: the document as JSON, without any service (BOOT-04). Without
 * the option it lists both listeners, each operation of the operators' with its own server;
 * `GET /openapi.json` of the public port leaves those out.
 */
const isOperator = process.argv.includes("--operator");
const document = isOperator
  ? operatorDocument(declaredRoutes())
  : publicDocument([...routes, ...declaredRoutes()]);
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
