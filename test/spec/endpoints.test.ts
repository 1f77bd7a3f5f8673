import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AuthLevel } from "../../server/http/pipeline/route.ts";
import { publicDocument } from "../../server/features/docs/openapi-route.ts";
import { routes } from "../../server/app/routes.ts";
import { additions, additionsByReason } from "./additions.ts";
import { promised, type PromisedAuth } from "./endpoints.ts";
import { pending } from "./pending.ts";

const declared = routes.map((route) => `${route.method} ${route.path}`);
const promises = new Map(promised.map(([method, path, auth]) => [`${method} ${path}`, auth]));

/**
 * Declared access levels that also satisfy a promised one: a public endpoint may read the caller's
 * identity.
 */
const levels: Readonly<Record<PromisedAuth, readonly AuthLevel[]>> = {
  public: ["public", "optional", "optional_seat"],
  optional: ["optional", "optional_seat"],
  player: ["player"],
  registered: ["registered"],
  account: ["player"],
  guest: ["guest"],
  seat: ["seat"],
  host: ["seat"],
  hub: ["public", "optional_seat"],
};

describe("the endpoints of the specification", () => {
  it("are 211, each listed once", () => {
    assert.equal(promised.length, 211);
    assert.equal(promises.size, promised.length);
  });

  it("are declared, except exactly the pending ones", () => {
    const absent = [...promises.keys()].filter((key) => !declared.includes(key));
    assert.deepEqual(
      {
        forgotten: absent.filter((key) => !pending.includes(key)),
        declaredButPending: pending.filter((key) => declared.includes(key)),
        pendingButUnknown: pending.filter((key) => !promises.has(key)),
      },
      { forgotten: [], declaredButPending: [], pendingButUnknown: [] },
    );
  });

  it("require the specified credential", () => {
    const wrong = routes.flatMap((route) => {
      const auth = promises.get(`${route.method} ${route.path}`);
      if (auth === undefined || levels[auth].includes(route.auth)) return [];
      return [`${route.method} ${route.path}: ${route.auth}, promised ${auth}`];
    });
    assert.deepEqual(wrong, []);
  });
});

describe("the routes outside the specification", () => {
  it("are declared and not specified, each for one reason", () => {
    assert.deepEqual(
      additions.filter((key, at) => promises.has(key) || additions.indexOf(key) !== at),
      [],
    );
    assert.deepEqual(
      additions.filter((key) => !declared.includes(key)),
      [],
    );
  });

  it("cite a decision in their reason, or state a source in their declaration", () => {
    const unexplained = Object.entries(additionsByReason).flatMap(([reason, keys]) => {
      const cited = /\(([A-Z]+-?\d+)\)$/.exec(reason)?.[1];
      const sources = routes
        .filter(({ method, path }) => keys.includes(`${method} ${path}`))
        .map(({ source }) => source);
      return sources
        .filter((source) => (cited === undefined ? source === "" : !source.includes(cited)))
        .map((source) => `${reason}: ${source}`);
    });
    assert.deepEqual(unexplained, []);
  });
});

describe("the declared routes", () => {
  it("are specified or listed as additions", () => {
    const known = new Set([...promises.keys(), ...additions]);
    const unknown = declared.filter((key) => !known.has(key));
    assert.equal(unknown.join("\n"), "", "name them in test/spec/additions.ts, with their reason");
  });

  it("are declared once, whatever their parameter names", () => {
    // A parameter with a declared format is a different path from one without.
    const shapes = routes.map(({ method, path, rare }) => {
      const segments = rare?.segments ?? {};
      const shape = path.replace(
        /\{([^}]*)\}/g,
        (_, name: string) => `{${segments[name]?.source ?? ""}}`,
      );
      return `${method} ${shape}`;
    });
    assert.deepEqual(
      shapes.filter((shape, index) => shapes.indexOf(shape) !== index),
      [],
    );
  });

  it("are documented with exactly the parameters in their paths", () => {
    const { paths } = publicDocument(routes) as {
      paths: Record<string, Record<string, { parameters?: { name?: string; in?: string }[] }>>;
    };
    for (const [path, operations] of Object.entries(paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
      for (const { parameters = [] } of Object.values(operations)) {
        const named = parameters.filter((one) => one.in === "path").map(({ name }) => name);
        assert.deepEqual(named.sort(), inPath, path);
      }
    }
  });

  it("document the default of an omitted field or parameter", () => {
    const key = "POST /v1/realms/{slug}/keys";
    const icon = "GET /v1/avatars/icons/{slug}";
    const promised = [
      [key, "scopes", []],
      [key, "origins", []],
      [icon, "border", ""],
      [icon, "shape", "rect"],
      ["GET /v1/gateway/oauth/{provider}/url", "mode", "login"],
    ] as const;
    const found = promised.map(([endpoint, name]) => {
      const route = routes.find(({ method, path }) => `${method} ${path}` === endpoint);
      const fields: Record<string, { default?: unknown }> =
        (route?.body ?? route?.query)?.properties ?? {};
      return [endpoint, name, fields[name]?.default];
    });
    assert.deepEqual(found, promised);
  });
});
