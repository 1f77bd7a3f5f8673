import type { Deps } from "../deps.ts";

/**
 * Makes each request its own view of the dependencies: the same values, but `em` is a fork of its
 * own, made when it is first asked for, so that a request without queries costs nothing.
 */
export function createRequestDeps(base: Deps): () => Deps {
  const view = Object.create(base, {
    em: {
      configurable: true,
      get(this: Deps) {
        const em = base.orm.em.fork();
        Object.defineProperty(this, "em", { value: em });
        return em;
      },
    },
  }) as Deps;
  return () => Object.create(view) as Deps;
}
