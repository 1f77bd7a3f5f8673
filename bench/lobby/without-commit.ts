import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Redis } from "ioredis";

/**
 * Loaded before the service: a commit of picks is answered at once, as if the store had taken it. The rest of
 * a pick is done as ever, so what is measured is all but the store; games begin, end and move as ever, too.
 */
const script = readFileSync(new URL("../../actors/runtime/storage/commit.lua", import.meta.url));
const digest = createHash("sha1").update(script).digest("hex");
/** KEYS of one lobby. */
const keysPerLobby = 4;
const committed = "c";
/** Behind two of the worker and the packed commit of the first lobby: its first message's id and the message. */
const firstMessage = 4;
const pick = '{"type":"lobby.pick"';

type Evalsha = (sha: string, keyCount: number, ...args: unknown[]) => Promise<unknown>;
const commands = Redis.prototype as unknown as { evalsha: Evalsha };
const { evalsha } = commands;
commands.evalsha = function answerCommits(sha, keyCount, ...args) {
  const isOfPicks = sha === digest && String(args[keyCount + firstMessage]).includes(pick);
  if (!isOfPicks) return evalsha.call(this, sha, keyCount, ...args);
  return Promise.resolve(committed.repeat(Math.floor(keyCount / keysPerLobby)));
};
