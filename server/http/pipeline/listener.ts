import type { AppError } from "../../platform/errors.ts";
import type { Cors } from "../auth/cors.ts";
import type { OwnerPortSource } from "../replies/owner-port.ts";
import type { RouteEntry } from "./entry.ts";
import type { RequestContext } from "./request-context.ts";
import type { AnyRoute, Page, Reply } from "./route.ts";

/** Decides who the caller of a request is, and whether the route admits them. */
export interface Authorizer {
  /**
   * Sets the caller of the request. The refusal is that of the level, or that of a request from another site; null
   * admits. It is returned at once unless a store has to be read: on the public listener for an API key only.
   */
  authorize(ctx: RequestContext, entry: RouteEntry): AppError | null | Promise<AppError | null>;
  /** The account and the address that a large form counts against; throws the refusal (S18). */
  previewForm(ctx: RequestContext, entry: RouteEntry): readonly string[];
  /** True for a caller with a seat in the room of the route: such a caller need not guess its code. */
  holdsSeat(ctx: RequestContext, entry: RouteEntry): boolean;
}

/** What distinguishes a listener; the steps of a request are the same on all of them. */
export interface Listener {
  authorizer: Authorizer;
  /** Permissions for other origins. */
  cors: Pick<Cors, "isForAll" | "answer" | "preflight">;
  /** Dedicated port of the worker that owns a room. */
  ownerPort: OwnerPortSource;
  /** Security headers of every response of a route; null stands for a response without one. */
  safetyOf(route: AnyRoute | null): string;
  /** True where X-Forwarded-Proto decides over Strict-Transport-Security. */
  isBehindProxy: boolean;
  /** The dependencies of a request. */
  depsOf(ctx: RequestContext): object;
  /** How it answers people; null for a listener of programs. */
  pages: PageRules | null;
}

/** What holds for every page of a listener. */
export interface PageRules {
  /** Gives up a page that people should not wait for any longer. */
  wait(ctx: RequestContext, page: Promise<Reply>): Promise<Reply>;
  /** A page as it is sent. */
  finish(page: Page): Page;
  /** A page instead of a refusal as JSON, in a bounded time; null for a program. */
  refusal(ctx: RequestContext, refusal: AppError): Promise<Reply | null>;
}
