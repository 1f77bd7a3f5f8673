import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { format, resolveConfig } from "prettier";
import { asset } from "../../../../server/platform/assets.ts";
import { withClientTypes, type InterfaceDocument } from "../../../../server/web/client/types.ts";
import { publicDocument } from "../../../../server/features/pages/openapi-route.ts";
import { routes } from "../../../../server/app/routes.ts";

it("the client has the types of the interface document, as `npm run client:types` writes them", async () => {
  const path = asset("server/web/client/emberline.ts");
  const source = readFileSync(path, "utf8");
  const text = withClientTypes(source, publicDocument(routes) as InterfaceDocument);
  const written = await format(text, { ...(await resolveConfig(path)), parser: "typescript" });
  assert.equal(source, written);
});
