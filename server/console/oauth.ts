import { createHash, randomBytes } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Config } from "../platform/config/config.ts";
import { randomId } from "../platform/ids.ts";
import { isNewLabel } from "../platform/text/name-rules.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { inDatabase } from "./in-database.ts";
import { addClient, allClients, endClient } from "../features/oauth/domain/clients.ts";
import { brandedRealmOf } from "../features/realms/domain/realms.ts";

const maxName = 64;
/** Maximum redirect addresses of a client, and characters of each. */
const maxUris = 10;
const maxUri = 1_024;
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

export const oauthCommands: readonly ConsoleCommand[] = [
  {
    name: "oauth:client-create",
    summary: "Register an OAuth client; its secret is shown once",
    required: [
      ["--realm <slug>", "realm of the client"],
      ["--name <name>", "name shown to players, up to 64 characters"],
      ["--redirect <uris>", "redirect addresses, separated by commas"],
    ],
    optional: [
      ["--public", "a public client in a browser or on a device, which cannot keep a secret"],
    ],
    run: createClient,
  },
  {
    name: "oauth:client-revoke",
    summary: "Remove an OAuth client and revoke its tokens",
    required: [["--client <id>", "id given at creation"]],
    run: revokeClient,
  },
  { name: "oauth:client-list", summary: "List the OAuth clients", run: showClients },
];

async function createClient(config: Config, options: Options) {
  const name = textOf(options, "name") ?? "";
  if (name.length > maxName || !isNewLabel(name))
    throw new Refusal(`oauth:invalid_name 1 to ${maxName} characters, none of them invisible`);
  const redirectUris = (textOf(options, "redirect") ?? "").split(",").map((uri) => uri.trim());
  const isPublic = options["public"] === true;
  const wrong = redirectUris.find((uri) => !isRedirectUri(uri, isPublic));
  if (wrong !== undefined || redirectUris.length > maxUris)
    throw new Refusal(`oauth:invalid_redirect ${wrong ?? `at most ${maxUris}`}`);
  const secret = isPublic ? null : randomBytes(32).toString("base64url");
  const secretHash = secret === null ? null : createHash("sha256").update(secret).digest("hex");
  const clientId = randomId();
  const make = async (em: EntityManager) => {
    const found = await brandedRealmOf(em, String(options["realm"]));
    if (!found) throw new Refusal("realm:not_found");
    const { realm } = found;
    await addClient(em, { clientId, name, realmId: realm.id, secretHash, redirectUris });
    const shown = { client_id: clientId, name, realm: realm.slug, redirect_uris: redirectUris };
    return secret === null ? shown : { ...shown, client_secret: secret };
  };
  return inDatabase(config, make, { action: "oauth:client-create", target: clientId });
}

/** https, http on the same machine, and for public programs an address scheme of their own (RFC 8252). */
function isRedirectUri(text: string, isPublic: boolean): boolean {
  if (text.length > maxUri || !URL.canParse(text) || text.includes("#")) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  if (protocol === "https:") return true;
  if (protocol === "http:") return loopback.has(hostname);
  return isPublic && /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/.test(protocol);
}

async function revokeClient(config: Config, options: Options) {
  const clientId = textOf(options, "client") ?? "";
  const make = async (em: EntityManager) => {
    if (!(await endClient(em, clientId, new Date()))) throw new Refusal("oauth:client_not_found");
    return { client_id: clientId, is_revoked: true };
  };
  return inDatabase(config, make, { action: "oauth:client-revoke", target: clientId });
}

async function showClients(config: Config) {
  return inDatabase(config, async (em) => ({ clients: await allClients(em) }));
}
