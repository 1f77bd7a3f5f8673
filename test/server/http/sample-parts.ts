import Type from "typebox";
import { routesWith } from "../../../server/http/pipeline/route.ts";
import type { StreamResponse } from "../../../server/http/uws/stream-response.ts";
import type { SampleDeps } from "./sample.ts";

export const defineRoute = routesWith<SampleDeps>();

/** Gates and counters for tests. */
export const knobs = {
  created: 0,
  drawn: 0,
  /** Outcome of the next ticket requests after the ticket is drawn. */
  failures: [] as Error[],
  release: null as (() => void) | null,
  stream: null as StreamResponse | null,
  streamCloses: 0,
};

export const about = { summary: "for tests", tag: "test", source: "test" };
export const Any = Type.Unknown();
export const ByCode = Type.Object({ code: Type.String({ minLength: 6, maxLength: 6 }) });
export const ById = Type.Object({ id: Type.Integer({ minimum: 1 }) });
