import { allShards, Keyspace } from "../storage/keys.ts";
import { runScript, type ScriptRunner } from "../storage/scripts.ts";

/**
 * Notes that a single Redis has all it had under the history of writes `earlier` (its `master_replid`), which only
 * whoever starts it can know; "" notes nothing. `keyPrefixes`: of each kind of actor. Resolves to the present history.
 */
export async function continueHistory(
  redis: ScriptRunner,
  earlier: string,
  keyPrefixes: readonly string[],
): Promise<string> {
  const keyspaces = keyPrefixes.map((prefix) => new Keyspace(prefix));
  const keys = earlier === "" ? [] : keyspaces.flatMap(({ history }) => allShards.map(history));
  return String(await runScript(redis, "continue", keys, [earlier]));
}
