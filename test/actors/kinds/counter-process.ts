import { serve } from "../../../server/app/http-worker.ts";
import { runChild } from "../../../server/runtime/boot/run-child.ts";
import { kinds, routes } from "./counter-rooms.ts";

/** Silence makes no node count as dead: only a node-down notice has its rooms taken over. */
const neverMs = 1e9;

/** An HTTP worker of the service that has counters, too. */
await runChild(async () => async (order) => {
  await serve(order, { kinds, routes, timings: { deadMs: neverMs } });
});
