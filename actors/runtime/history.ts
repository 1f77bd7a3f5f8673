import { continuedKey } from "../../server/core/store-history.ts";
import type { Connection } from "./connection.ts";

/** Whether the history at hand has all of an earlier one. */
export async function hasAllOf(
  redis: Pick<Connection, "get">,
  present: string,
  earlier: string,
): Promise<boolean> {
  if (present === earlier) return true;
  const [continuing, ...whole] = ((await redis.get(continuedKey)) ?? "").split(" ");
  return continuing === present && whole.includes(earlier);
}
