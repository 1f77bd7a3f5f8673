import { newMember } from "./fleet.ts";

/**
 * A worker in a process of its own, for tests that kill or freeze it. Arguments: address of the store, and
 * "mute" for a worker whose draws never come back.
 */
const [, , redisUrl, kind] = process.argv;
if (!redisUrl) throw new Error("give the address of Redis");
const draw = kind === "mute" ? { draw: () => new Promise<never>(() => {}) } : {};
const member = await newMember(redisUrl, draw);
process.send?.({ ready: true, incarnation: member.lobbies.describe().incarnation });
process.on("disconnect", () => process.exit(0));
