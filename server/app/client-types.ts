import { readFileSync, writeFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";
import { asset } from "../platform/assets.ts";
import { routes } from "./routes.ts";
import { publicDocument } from "../features/pages/openapi-route.ts";
import { withClientTypes, type InterfaceDocument } from "../web/client/types.ts";

/** `npm run client:types`: writes the types of the interface document into the client. */
const path = asset("server/web/client/emberline.ts");
const document = publicDocument(routes) as InterfaceDocument;
const text = withClientTypes(readFileSync(path, "utf8"), document);
writeFileSync(path, await format(text, { ...(await resolveConfig(path)), parser: "typescript" }));
