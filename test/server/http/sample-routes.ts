import type { Route } from "../../../server/http/pipeline/route.ts";
import type { SampleDeps } from "./sample.ts";
import { writes, failures } from "./sample-writes.ts";
import { reads, callers, seats } from "./sample-reads.ts";

export const sampleRoutes: readonly Route<SampleDeps>[] = [
  ...reads,
  ...callers,
  ...seats,
  ...writes,
  ...failures,
];
