import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";

/** Holder of an operator token. The token is shown once and stored as SHA-256 (OPS-02). */
export const OperatorSchema = defineEntity({
  name: "Operator",
  tableName: "operators",
  properties: {
    id: p.integer().primary(),
    name: p.string().length(64).unique("operators_name_unique"),
    role: p.enum(["viewer", "operator", "admin"]),
    /** Lower-case hexadecimal. */
    tokenHash: p.string().length(64).unique("operators_token_hash_unique").hidden(),
    createdAt: p.datetime().defaultRaw("now()"),
    revokedAt: p.datetime().nullable(),
  },
});

export type Operator = InferEntity<typeof OperatorSchema>;
