import { newMember } from "./fleet.ts";

/** A worker in a process of its own, for tests that kill or freeze it. Address of the store as argument. */
const redisUrl = process.argv[2];
if (!redisUrl) throw new Error("give the address of Redis");
const member = await newMember(redisUrl);
process.send?.({ ready: true, incarnation: member.lobbies.describe().incarnation });
process.on("disconnect", () => process.exit(0));
