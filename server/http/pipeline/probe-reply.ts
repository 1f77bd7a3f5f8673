import type { ProbeAnswer } from "../../platform/probes.ts";
import { bytesReply } from "./route.ts";

/** The answer of a probe as a response; caches must not keep it. */
export const probeReply = ({ status, word }: ProbeAnswer) =>
  bytesReply(status, "text/plain; charset=utf-8", word, [["Cache-Control", "no-store"]]);
