import type { TObject } from "typebox";
import {
  defineRoute,
  type OperatorLevel,
  type ResponseSpec,
  type Route,
  type RouteRecord,
} from "../http/pipeline/route.ts";

/** Declares an endpoint of the operator listener, with the same record as any other endpoint (OPS-01). */
export function defineOperatorRoute<
  const A extends OperatorLevel,
  const R extends Record<number, ResponseSpec>,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
>(route: Omit<RouteRecord<unknown, A, P, Q, B, R>, "tag">): Route<unknown> {
  return defineRoute<A, R, P, Q, B>({ ...route, tag: "Operator" } as RouteRecord<
    unknown,
    A,
    P,
    Q,
    B,
    R
  >);
}
