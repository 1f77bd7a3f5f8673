import type { EntityManager } from "@mikro-orm/postgresql";
import {
  insertOAuthClient,
  listOAuthClients,
  revokeOAuthClient,
} from "../../../../db/queries/oauth/oauth-clients.ts";
import { recordChange } from "../../operators/domain/operators.ts";

type NewClient = Parameters<typeof insertOAuthClient>[1];

/** Adds a client, with its audit record. */
export async function addClient(em: EntityManager, client: NewClient): Promise<void> {
  await insertOAuthClient(em, client);
  const action = "oauth:client-create";
  await recordChange(em, { operator: "console", action, target: client.clientId });
}

/** False if there is no such client, or it was revoked before. */
export async function endClient(em: EntityManager, clientId: string, now: Date): Promise<boolean> {
  if (!(await revokeOAuthClient(em, clientId, now))) return false;
  const action = "oauth:client-revoke";
  await recordChange(em, { operator: "console", action, target: clientId });
  return true;
}

export const allClients = (em: EntityManager) => listOAuthClients(em);
