import type { Reply } from "./contract.ts";

/** This process does not own the room; the caller has to ask the current owner with the same command id. */
export const notOwner: unique symbol = Symbol("not owner");

export type Outcome = Reply | typeof notOwner;

export const unavailable: Reply = {
  ok: false,
  code: "server:unavailable",
  params: { retry_after: 1 },
};
