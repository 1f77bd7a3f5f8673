import type { TObject } from "typebox";
import {
  defineRoute,
  type AnyRoute,
  type OperatorLevel,
  type ResponseSpec,
  type RouteRecord,
} from "../http/pipeline/route.ts";

type Handler<
  A extends OperatorLevel,
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TObject | undefined,
  R extends Record<number, ResponseSpec>,
> = RouteRecord<A, P, Q, B, R>["handler"];

/** The input of a handler of this listener: its process has no dependencies of the public port. */
type Input<H extends (input: never) => unknown> = Omit<Parameters<H>[0], "deps">;

/** Declares an endpoint of the operator listener, with the record of every other endpoint (OPS-01). */
export function defineOperatorRoute<
  const A extends OperatorLevel,
  const R extends Record<number, ResponseSpec>,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
>(
  route: Omit<RouteRecord<A, P, Q, B, R>, "handler" | "tag"> & {
    handler: (input: Input<Handler<A, P, Q, B, R>>) => ReturnType<Handler<A, P, Q, B, R>>;
  },
): AnyRoute {
  return defineRoute<A, R, P, Q, B>({ ...route, tag: "Operator" } as unknown as RouteRecord<
    A,
    P,
    Q,
    B,
    R
  >);
}
