import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { createLogger } from "../../../../server/platform/log/logger.ts";

describe("a log line", () => {
  it("masks secrets at any depth, in lists and in the properties of an error", () => {
    const error = Object.assign(new Error("refused"), {
      token: "hidden-1",
      config: { headers: { authorization: "Bearer hidden-2" } },
    });
    const line = logged({
      err: error,
      password: "hidden-3",
      body: { email: "hidden-4", deeper: { list: [{ code: "hidden-5" }, { "x-api-key": null }] } },
      sent: new Sent("hidden-6"),
    });
    assert.doesNotMatch(line, /hidden-/);
    assert.match(line, /"message":"refused"/);
    assert.match(line, /"deeper":\{"list":\[\{"code":"\[redacted\]"\},/);
  });

  it("does not change the logged object and keeps everything else", () => {
    const at = new Date(0);
    const fields = { id: "a", player: 7, token: undefined, body: { phone: "1", at } };
    const line = logged(fields);
    assert.deepEqual(fields, { id: "a", player: 7, token: undefined, body: { phone: "1", at } });
    const { id, player, body } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual(
      { id, player, body },
      {
        id: "a",
        player: 7,
        body: { phone: "[redacted]", at: "1970-01-01T00:00:00.000Z" },
      },
    );
  });

  it("masks personal data and secrets in the words of an error and in reasons, by their content", () => {
    const reply = "550 no such user ada@example.com, code 246802";
    const cause = Object.assign(new Error(reply), {
      response: reply,
      rejected: ["ada@example.com"],
    });
    const line = logged({
      reason: `mail refused: ${reply}`,
      err: new Error("mail refused", { cause }),
      list: [cause],
    });
    assert.doesNotMatch(line, /ada@|246802/);
    assert.match(line, /"reason":"mail refused: 550 no such user/);
    assert.match(line, /"stack":"Error: mail refused\\n {4}at /);
  });

  it("may contain a circular reference", () => {
    const circle: Record<string, unknown> = { name: "round" };
    circle["self"] = circle;
    assert.match(logged({ circle }), /"name":"round".*"\[redacted\]"/);
  });
});

class Sent {
  readonly cookie: string;

  constructor(cookie: string) {
    this.cookie = cookie;
  }
}

function logged(fields: Record<string, unknown>): string {
  let text = "";
  const log = createLogger(parseConfig({ LOG_LEVEL: "info" }), "test", {
    write: (line) => void (text += line),
  });
  log.info(fields);
  return text;
}
