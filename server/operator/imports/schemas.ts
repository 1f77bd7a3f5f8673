import Type, { type Static } from "typebox";
import { Timestamp } from "../../platform/schemas.ts";
import { QueueBody } from "../schemas.ts";

const maxPage = 1_000;

export const ImportsQuery = Type.Object({
  game: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
});

export const ImportBody = Type.Object({
  id: Type.Integer(),
  game: Type.String(),
  branch: Type.String(),
  patch: Type.String(),
  state: Type.Enum(["newest", "earlier"], { description: "of its branch" }),
  revision: Type.Integer({ description: "how often the patch was imported again" }),
  num_added: Type.Integer(),
  num_changed: Type.Integer(),
  num_removed: Type.Integer(),
  imported_at: Timestamp,
});
export type ImportBody = Static<typeof ImportBody>;

export const ImportsBody = Type.Object({
  imports: Type.Array(ImportBody),
  queue: Type.Union([QueueBody, Type.Null()], {
    description: "jobs of imports that are not done; null: Redis does not respond",
  }),
});
