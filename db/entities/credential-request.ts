import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/**
 * A request for a sign-in code or a password reset. Only the job checks whether the address has an account,
 * so that the request behaves the same for every address (S1).
 */
export const CredentialRequestSchema = defineEntity({
  name: "CredentialRequest",
  tableName: "credential_requests",
  properties: {
    id: p.integer().primary(),
    purpose: p.enum(["code", "reset"]),
    channel: p.enum(["email", "sms"]),
    emailKey: p.string().length(254),
    /** Slug of the realm whose front end the link opens. */
    realm: p.string().length(63),
    createdAt: p.datetime().index("credential_requests_created_at_index"),
  },
});

export type CredentialRequest = InferEntity<typeof CredentialRequestSchema>;
