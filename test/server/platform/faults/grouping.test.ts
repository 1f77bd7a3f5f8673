import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AppError } from "../../../../server/platform/errors.ts";
import { Fault } from "../../../../server/platform/faults/fault.ts";
import {
  groupIdOf,
  groupIdPattern,
  groupKeyOf,
  sourceOf,
  withoutValues,
} from "../../../../server/platform/faults/grouping.ts";
import { codeAlphabet, codeLength } from "../../../../server/platform/text/room-codes.ts";
import { randomString } from "../../../../server/platform/ids.ts";

const idOf = (error: unknown, place = "mail") =>
  groupIdOf(groupKeyOf({ kind: "job", place, error }));

const refused = (change: object = {}) =>
  new Fault("smtp.refused", { peer: "mail.example:25", status: 550, text: "no", ...change });

describe("the group of a fault", () => {
  it("depends on place, code, peer and status, not on the words of the other side", () => {
    const id = idOf(refused());
    assert.match(id, new RegExp(groupIdPattern));
    assert.equal(idOf(refused({ text: "mailbox of ada@example.com is full" })), id);
    assert.equal(idOf(new Error("sending failed", { cause: refused() })), id);
    for (const [name, other] of Object.entries({
      place: idOf(refused(), "credential-requests"),
      code: idOf(new Fault("smtp.deferred", { peer: "mail.example:25", status: 550 })),
      peer: idOf(refused({ peer: "other.example:25" })),
      status: idOf(refused({ status: 551 })),
    }))
      assert.notEqual(other, id, name);
  });

  it("is that of its code and status for a refusal of the table", () => {
    const { code, status } = groupKeyOf({
      kind: "request",
      place: "GET /v1/x",
      error: new AppError("generator:unavailable"),
    });
    assert.deepEqual([code, status], ["generator:unavailable", 503]);
  });

  it("keeps its id: a change of the grouping needs a new version", () => {
    assert.equal(idOf(refused()), "1-733212921f2550bb");
  });
});

describe("the group of an untyped error", () => {
  const thrown = (text: string) => new Error(text);

  it("is one for ten thousand texts that differ in a room code each", () => {
    const ids = new Set<string>();
    for (let n = 0; n < 10_000; n++)
      ids.add(idOf(thrown(`lobby ${randomString(codeLength, codeAlphabet)} has no sheet`)));
    assert.equal(ids.size, 1);
  });

  it("depends on its class, its code and its words", () => {
    const one = idOf(thrown("no sheet"));
    assert.notEqual(idOf(new TypeError("no sheet")), one);
    assert.notEqual(idOf(thrown("no seat")), one);
    assert.notEqual(idOf(Object.assign(thrown("no sheet"), { code: "ENOENT" })), one);
    assert.ok(groupKeyOf({ kind: "job", place: "mail", error: "a text" }).name === "string");
  });

  const texts: readonly [message: string, shown: string][] = [
    ["connect ECONNREFUSED 127.0.0.1:6379", "connect ECONNREFUSED <address>"],
    ["connect ECONNREFUSED ::1:5432", "connect ECONNREFUSED <address>"],
    ["getaddrinfo ENOTFOUND redis.internal:6379", "getaddrinfo ENOTFOUND <address>"],
    ["GET https://a.example/x?token=1 failed", "GET <address> failed"],
    ['duplicate key value violates "players_name_key"', "duplicate key value violates <value>"],
    ["mail to ada@example.com refused", "mail to <address> refused"],
    ["job lobby-ABC234-17-99 is lost", "job <value> is lost"],
    ["row 6f9619ff-8b86-d011-b42d-00cf4fc964ff", "row <value>"],
    ["no such file /srv/data/pictures/a.webp", "no such file <path>"],
    ["took 1,234.5 ms of 20", "took <value> ms of <value>"],
    ["code 123456 is wrong", "code <value> is wrong"],
    ["two\n  lines", "two lines"],
  ];
  for (const [message, shown] of texts)
    it(`has the words "${shown}" for "${message}"`, () => {
      assert.equal(withoutValues(message), shown);
    });

  it("has bounded words, found in a time that does not depend on their kind", () => {
    for (const text of ["a".repeat(1e6), "1".repeat(1e6), "a1-".repeat(4e5), "/a".repeat(5e5)])
      assert.ok(withoutValues(text).length <= 161);
  });
});

describe("the source function of a stack", () => {
  const root = "file:///srv/emberline/";
  const of = (...frames: string[]) =>
    sourceOf(["Error: x", ...frames.map((frame) => `    at ${frame}`)].join("\n"), root);

  it("is that of the first frame of our sources, without its line", () => {
    const frames = (line: number) =>
      of(
        "Socket.emit (node:events:508:28)",
        "Client.query (file:///srv/emberline/node_modules/pg/lib/client.js:1:2)",
        `async Mailboxes.run (file:///srv/emberline/actors/rooms.ts:${line}:9)`,
        "async answer (file:///srv/emberline/server/http/pipeline/pipeline.ts:3:4)",
      );
    assert.equal(frames(10), "Mailboxes.run in actors/rooms.ts");
    assert.equal(frames(99), frames(10));
  });

  it("has a name without what a bundler adds", () => {
    const file = "(file:///srv/emberline/workers/processors/mail.ts:1:2)";
    for (const name of ["sendMail", "sendMail2", "_sendMail", "async sendMail", "new sendMail"])
      assert.equal(of(`${name} ${file}`), "sendMail in workers/processors/mail.ts", name);
    assert.equal(of(`Object.handler [as run] ${file}`), "handler in workers/processors/mail.ts");
    assert.equal(of("file:///srv/emberline/db/orm.ts:1:2"), "db/orm.ts");
    assert.equal(of("async file:///srv/emberline/db/orm.ts:1:2"), "db/orm.ts");
  });

  it("is unknown for a stack of libraries only", () => {
    assert.equal(of("Socket.emit (node:events:508:28)"), null);
    assert.equal(sourceOf(""), null);
  });

  it("is found in the stack of an error of this tree", () => {
    const { source } = groupKeyOf({ kind: "job", place: "x", error: new Error("here") });
    assert.match(source ?? "", /^TestContext\.<anonymous> in test\/server\/platform\/faults\//);
  });
});
