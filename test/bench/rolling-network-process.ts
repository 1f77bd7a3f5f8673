import { createNetwork } from "../../bench/rolling/network.ts";

// Makes a network, and stays until it is killed.
await createNetwork(2);
process.send?.("made");
setInterval(() => undefined, 60_000);
