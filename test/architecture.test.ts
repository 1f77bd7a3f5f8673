import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  findCycles,
  importsIn,
  packageImportsIn,
  readImports,
  sourceFiles,
} from "./support/imports.ts";
import {
  addCounts,
  countQueries,
  listTextsWithoutReason,
  noQueries,
  textShare,
} from "./support/query-shares.ts";
import { missingZone, refuse, zoneOf } from "./support/zones.ts";

const root = join(import.meta.dirname, "..");
const files = sourceFiles(root, ["server", "workers", "actors", "importers", "db", "bench"]);
const scripts = globSync("actors/**/*.lua", { cwd: root });
const imports = readImports(root, files);

describe("the architecture", () => {
  it("has a zone for every file", () => {
    assert.deepEqual(files.filter((file) => zoneOf(file) === null).map(missingZone), []);
  });

  it("reports a file without a zone, and says what to do", () => {
    const file = "server/chess.txt";
    assert.equal(zoneOf(file), null);
    for (const one of [
      { from: file, to: "db/orm.ts" },
      { from: "workers/main.ts", to: file },
    ])
      assert.equal(refuse({ ...one, isTypeOnly: false }), missingZone(file));
    assert.match(missingZone(file), /^server\/chess\.txt .+test\/support\/zones\.ts$/);
  });

  it("has imports that point downwards only", () => {
    const wrong = imports.flatMap((one) => {
      const reason = refuse(one);
      return reason ? [`${one.from} -> ${one.to}: ${reason}`] : [];
    });
    assert.deepEqual(wrong, []);
  });

  it("has no circular imports at run time", () => {
    assert.deepEqual(findCycles(imports), []);
  });

  it("reads the environment in the configuration only", () => {
    const wrong = files.flatMap((file) => environmentReads(file).map((line) => `${file}: ${line}`));
    assert.deepEqual(wrong, []);
  });
});

describe("the hub and the actor runtime", () => {
  it("name a kind of room in comments only, because each kind declares its rules", () => {
    const wrong = [...files, ...scripts]
      .filter((file) => ["sse", "actor-runtime"].includes(zoneOf(file) ?? ""))
      .flatMap((file) =>
        linesOf(file)
          .filter((line) => !isComment(line) && /lobb(y|ies)/i.test(line))
          .map((line) => `${file}: ${line}`),
      );
    assert.deepEqual(wrong, []);
  });
});

const linesOf = (file: string): string[] => readFileSync(join(root, file), "utf8").split("\n");

const isComment = (line: string): boolean => /^\s*(\/\/|\/?\*|--)/.test(line);

/** Patches of a library, and members it calls private. */
const patches = [
  /\.prototype\b/,
  /\bReflect\.(set|defineProperty|deleteProperty)\(/,
  /[\w)\]]\??\._[A-Za-z]/,
  /\[["']_[A-Za-z]/,
];
/** Files that need one of them, and why. */
const patchers: Readonly<Record<string, string>> = {
  "server/http/pipeline/request-deps.ts": "joins a class of its own to the values it shows",
};

describe("libraries", () => {
  const patching = files.filter((file) => {
    return linesOf(file).some((line) => !isComment(line) && patches.some((p) => p.test(line)));
  });

  it("are never patched and are used through declared members only, except in the files named here", () => {
    assert.deepEqual(patching.toSorted(), Object.keys(patchers).toSorted());
  });
});

describe("packages", () => {
  /** Folders in which a package keeps its own files, even where its `exports` let them through. */
  const internals = /^(?:@[^/]+\/)?[^/]+\/(?:.+\/)?(?:dist|lib|build|src|esm|cjs|internal)(?:\/|$)/;

  it("are imported by their public entries, never by the files behind them", () => {
    const wrong = sourceFiles(root, [
      "server",
      "workers",
      "actors",
      "importers",
      "db",
      "bench",
      "test",
    ]).flatMap((file) =>
      packageImportsIn(readFileSync(join(root, file), "utf8"))
        .filter((specifier) => internals.test(specifier))
        .map((specifier) => `${file}: ${specifier}`),
    );
    assert.deepEqual(wrong, []);
  });

  it("are recognized with a scope, without one, and as types", () => {
    const text = [
      `import type { A } from "@bull-board/api/dist/types.js";`,
      `import { b } from "pkg/lib/b.js";`,
      `const c = await import("pkg/deep/${"src"}/c.js");`,
      `import { d } from "typebox/compile";`,
      `import { e } from "./lib/e.ts";`,
      `import { f } from "node:fs/promises";`,
    ].join("\n");
    assert.deepEqual(
      packageImportsIn(text).filter((one) => internals.test(one)),
      ["@bull-board/api/dist/types.js", "pkg/lib/b.js", "pkg/deep/src/c.js"],
    );
  });
});

describe("browser code", () => {
  const exceptions: Readonly<Record<string, RegExp>> = {
    "server/web/client/emberline.ts": /\bfetch\(input, init\)/,
    "server/web/client/connection.ts": /\blink\.fetch\(/,
    "server/web/client/request.ts": /\blink\.fetch\(/,
    // Reads a page, not the interface.
    "server/web/operator/refresh.ts": /\bfetch\(location\.href/,
    // The client knows the public listener only.
    "server/web/operator/review.ts": /\bfetch\(action,/,
  };
  const own = /\bfetch\(|\.(createElement|innerHTML|outerHTML|insertAdjacentHTML)\b/;

  it("calls the service through the client and creates elements in one way", () => {
    const wrong = files.filter((file) => {
      if (!file.startsWith("server/web/")) return false;
      const text = readFileSync(join(root, file), "utf8");
      return text.split("\n").some((line) => own.test(line) && !exceptions[file]?.test(line));
    });
    assert.deepEqual(wrong, []);
  });
});

describe("queries", () => {
  it("are raw SQL texts in at most a quarter of all calls", () => {
    const all = [...countQueries().values()].reduce(addCounts, noQueries);
    assert.ok(textShare(all) <= 25, JSON.stringify(all));
  });

  it("state beside each SQL text why the query builder is not enough", () => {
    assert.deepEqual(listTextsWithoutReason(), []);
  });
});

describe("exports", () => {
  /** Files that pass on exports of other modules, and why. */
  const doors: Readonly<Record<string, string>> = {
    "actors/index.ts": "the public interface of the actors",
    "actors/rules.ts": "the only file of the runtime that rules import",
    "server/http/uws/uws.ts": "the only file that names uWebSockets",
    "server/platform/config/config.ts":
      "the type of the settings, beside the function that reads them",
    "server/web/client/emberline.ts": "the published client",
    "server/web/dom.ts": "the DOM layer",
  };
  const passedOn = /^export (?:\*|(?:type )?\{[^}]*\} from\b)/m;

  it("are imported from the module that declares them, except through the files named here", () => {
    const found = files.filter((file) => passedOn.test(readFileSync(join(root, file), "utf8")));
    assert.deepEqual(found.toSorted(), Object.keys(doors).toSorted());
  });
});

describe("the type of all dependencies", () => {
  it("is used by server/app, the entry points and tests only", () => {
    const name = (from: string) =>
      refuse({ from, to: "server/app/deps.ts", isTypeOnly: true }) === null;
    for (const from of [
      "server/app/routes.ts",
      "server/entries/http-worker.ts",
      "test/support/app.ts",
    ])
      assert.ok(name(from), from);
    for (const from of [
      "bench/peers/raw-process.ts",
      "server/console/wallet.ts",
      "server/features/keys/service.ts",
      "server/features/runs/domain/live.ts",
      "server/http/pipeline/pipeline.ts",
      "server/operator/main.ts",
      "workers/main.ts",
      "workers/processors/mail.ts",
    ])
      assert.ok(!name(from), from);
  });
});

describe("the hooks of tests", () => {
  const tests = sourceFiles(root, ["test"]).map(
    (file) => [file, linesOf(file).join("\n")] as const,
  );
  const hooks = ["before", "after", "beforeEach", "afterEach"];
  const registers = new RegExp(`^  (${hooks.join("|")})\\(`, "m");
  /** Functions that register a hook when they are called. */
  const callers = tests.flatMap(([, text]) =>
    [...text.matchAll(/^(?:export )?function (\w+)\([^]*?^\}$/gm)]
      .filter(([body]) => registers.test(body))
      .map(([, name = ""]) => name),
  );
  const atTopLevel = new RegExp(`^(const .+ = )?(await )?(${[...hooks, ...callers].join("|")})\\(`);

  it("are inside a describe, because files of one process share the top level", () => {
    const wrong = tests.flatMap(([file, text]) =>
      text
        .split("\n")
        .filter((line) => atTopLevel.test(line))
        .map((line) => `${file}: ${line}`),
    );
    assert.deepEqual(wrong, []);
  });

  it("are also detected inside a helper", () => {
    for (const line of ["after(() => app.stop());", "startsWalletApp();"])
      assert.match(line, atTopLevel);
    assert.doesNotMatch("  startsWalletApp();", atTopLevel);
  });
});

describe("the reader of imports", () => {
  it("finds every form of an import and recognizes type imports", () => {
    const text = [
      `import { a } from "./a.ts";`,
      `import type { B } from "../b.ts";`,
      `import {\n  c,\n  type D,\n} from "./c.ts";`,
      `export * from "./e.ts";`,
      `export type { F } from "./f.ts";`,
      `import "./side-effect.ts";`,
      `import { globSync, readFileSync } from "node:fs";`,
      `const late = await import("./late.ts");`,
    ].join("\n");
    const seen = importsIn("x/y/z.ts", text).map((one) => [one.to, one.isTypeOnly]);
    assert.deepEqual(seen, [
      ["x/y/a.ts", false],
      ["x/b.ts", true],
      ["x/y/c.ts", false],
      ["x/y/e.ts", false],
      ["x/y/f.ts", true],
      ["x/y/side-effect.ts", false],
      ["x/y/late.ts", false],
    ]);
  });

  it("finds a circle, but ignores one that exists in types only", () => {
    const link = (from: string, to: string, isTypeOnly = false) => ({ from, to, isTypeOnly });
    assert.deepEqual(findCycles([link("a", "b"), link("b", "c"), link("c", "a")]), [
      "a -> b -> c -> a",
    ]);
    assert.deepEqual(findCycles([link("a", "b"), link("b", "a", true)]), []);
  });

  it("rejects imports that point up or sideways", () => {
    const load = (from: string, to: string) => refuse({ from, to, isTypeOnly: false }) === null;
    assert.ok(load("server/features/accounts/service.ts", "db/queries/accounts/players.ts"));
    assert.ok(load("server/features/accounts/routes.ts", "server/features/wallet/service.ts"));
    assert.ok(!load("server/features/accounts/routes.ts", "server/features/wallet/routes.ts"));
    assert.ok(!load("server/features/accounts/routes.ts", "actors/router.ts"));
    assert.ok(!load("db/orm.ts", "server/http/pipeline/route.ts"));
    assert.ok(!load("actors/lobby/decide.ts", "server/platform/errors.ts"));
    assert.ok(!load("actors/chess/rules.ts", "actors/lobby/seats.ts"));
    assert.ok(!load("actors/chess/rules.ts", "actors/router.ts"));
    assert.ok(!load("actors/router.ts", "actors/lobby/evolve.ts"));
    assert.ok(load("actors/chess/rules.ts", "actors/rules.ts"));
    assert.ok(load("actors/chess/rooms.ts", "actors/create-rooms.ts"));
    assert.ok(load("server/app/assemble.ts", "server/app/deps.ts"));
    assert.ok(load("server/features/runs/deps.ts", "server/features/questions/deps.ts"));
    assert.ok(!load("workers/processors/mail.ts", "server/features/accounts/service.ts"));
    assert.ok(!load("server/platform/log/logger.ts", "test/support/stores.ts"));
    assert.ok(load("bench/scenarios/games.ts", "server/web/client/emberline.ts"));
    assert.ok(!load("bench/scenarios/games.ts", "server/web/client/seat.ts"));
    assert.ok(!load("bench/scenarios/games.ts", "server/platform/redis/redis.ts"));
    for (const from of ["server/operator/jobs/routes.ts", "server/console/accounts.ts"]) {
      assert.ok(!load(from, "db/queries/accounts/accounts.ts"));
      assert.ok(load(from, "server/features/accounts/domain/accounts.ts"));
    }
  });
});

/**
 * Uses of the environment besides the configuration. Starters may hand the environment on to a
 * program they start, since that reads no setting.
 */
function environmentReads(file: string): string[] {
  const allowed = ["config.ts", "service-id.ts"].map((name) => `server/platform/config/${name}`);
  if (allowed.includes(file) || zoneOf(file) === "bench") return [];
  const lines = linesOf(file).filter((line) => line.includes("process.env"));
  if (zoneOf(file) !== "process") return lines;
  return lines.filter(
    (line) => !/\.\.\.process\.env\b|process\.env(\["PATH"\]|\.PATH\b)/.test(line),
  );
}
