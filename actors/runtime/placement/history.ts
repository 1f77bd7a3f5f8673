import { allShards, historyKey } from "../storage/keys.ts";
import { runScript, type ScriptRunner } from "../storage/scripts.ts";

/**
 * Notes that a single Redis has all it had under the history of writes `earlier` (its `master_replid`), which only
 * whoever starts it can know; "" notes nothing. Resolves to the present history.
 */
export async function continueHistory(redis: ScriptRunner, earlier: string): Promise<string> {
  const keys = earlier === "" ? [] : allShards.map(historyKey);
  return String(await runScript(redis, "continue", keys, [earlier]));
}
