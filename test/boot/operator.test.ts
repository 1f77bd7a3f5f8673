import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { eventually } from "../support/eventually.ts";
import { sharedService, type Service } from "../support/process.ts";
import { allQueues } from "../../workers/queues.ts";

let service: Service;
let address: string;

const call = (path: string, init: RequestInit = {}) =>
  fetch(`${address}${path}`, { redirect: "manual", ...init });

const asOperator = () => ({ Authorization: `Bearer ${service.operatorToken}` });

const login = (token: string) =>
  call("/operator/login", { method: "POST", body: new URLSearchParams({ token }) });

describe("the operator listener", () => {
  before(async () => {
    service = await sharedService();
    address = service.operatorUrl;
  });

  describe("admits operators alone", () => {
    it("refuses everything but probes, health and the login to strangers", async () => {
      const paths = [
        "/operator/workers",
        "/operator/queues",
        "/operator/outbox",
        "/operator/wallets",
        "/operator/openapi.json",
        "/operator/queues/board",
      ];
      for (const path of paths) assert.equal((await call(path)).status, 401, path);
      for (const path of ["/live", "/ready", "/operator/login"]) {
        const answer = await call(path);
        assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
      }
      // A process that imports or waits for a core responds late.
      await eventually("every process and store answers", async () => {
        const answer = await call("/health");
        const text = await answer.text();
        assert.ok([200, 503].includes(answer.status), text);
        const { body } = JSON.parse(text) as { body: { avatar_moderation: string } };
        // The first picture loads the classifier.
        return answer.status === 200 && body.avatar_moderation === "idle";
      });
    });

    it("returns metrics without a token to this machine only, not through a proxy", async () => {
      assert.equal((await call("/metrics")).status, 200);
      assert.equal(
        (await call("/metrics", { headers: { "X-Forwarded-For": "203.0.113.9" } })).status,
        401,
      );
    });

    it("exchanges the token for a strict cookie that opens the pages", async () => {
      const answer = await login(service.operatorToken);
      const cookie = answer.headers.get("set-cookie") ?? "";
      assert.equal(answer.status, 303);
      assert.match(cookie, /; HttpOnly; SameSite=Strict; Max-Age=43200$/);
      const [pair = ""] = cookie.split(";");
      let text = "";
      // A store that answers late on a busy machine is temporarily not ready.
      await eventually("the service is shown as ready", async () => {
        const start = await call("/operator", { headers: { Cookie: pair, Accept: "text/html" } });
        assert.equal(start.status, 200);
        text = await start.text();
        return /Service<\/td>\s*<td>ready</.test(text);
      });
      assert.match(text, /Requests<\/td>\s*<td>\d+ since the start</);
      const forged = pair.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
      assert.equal((await call("/operator/workers", { headers: { Cookie: forged } })).status, 401);
    });

    it("refuses a change that another site's page requests with the cookie", async () => {
      const [pair = ""] = (
        (await login(service.operatorToken)).headers.get("set-cookie") ?? ""
      ).split(";");
      const headers = { Cookie: pair, "Sec-Fetch-Site": "cross-site" };
      const path = "/operator/queues/board/api/queues/pause";
      assert.equal((await call(path, { method: "PUT", headers })).status, 403);
    });

    it("ignores logins and logouts from another site's page, and does not count its attempts", async () => {
      const others = [
        { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" },
        { "Sec-Fetch-Site": "same-site" },
        { Origin: "https://evil.example" },
        { Origin: "null" },
      ] as Record<string, string>[];
      const body = new URLSearchParams({ token: "wrong" });
      for (const headers of [...others, ...others, ...others])
        for (const path of ["/operator/login", "/operator/logout"]) {
          const answer = await call(path, { method: "POST", headers, body });
          assert.equal(answer.status, 403);
          assert.equal(answer.headers.get("set-cookie"), null);
        }
      assert.equal((await login(service.operatorToken)).status, 303);
      const own = { "Sec-Fetch-Site": "same-origin", Origin: "https://elsewhere.example" };
      for (const headers of [own, { Origin: address }, {}] as Record<string, string>[])
        assert.equal((await call("/operator/logout", { method: "POST", headers })).status, 303);
    });

    it("isolates its pages from other sites, and requires https behind an https proxy", async () => {
      const { headers } = await call("/operator/login", {
        headers: { "X-Forwarded-Proto": "https,http" },
      });
      assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
      assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
      assert.equal(headers.get("strict-transport-security"), "max-age=31536000");
      assert.equal((await call("/health")).headers.get("strict-transport-security"), null);
    });
  });
  describe("shows the state of the service", () => {
    it("serves the queue board without loading anything from another site", async () => {
      const page = await (await call("/operator/queues/board", { headers: asOperator() })).text();
      assert.doesNotMatch(page, /https?:\/\//);
      const script = /src="(static\/js\/main[^"]+)"/.exec(page)?.[1];
      const file = await call(`/operator/queues/board/${script}`, { headers: asOperator() });
      assert.equal(file.headers.get("content-type"), "text/javascript; charset=utf-8");
      const list = await call("/operator/queues/board/api/queues", { headers: asOperator() });
      const { queues } = (await list.json()) as { queues: { name: string }[] };
      assert.deepEqual(
        queues.map(({ name }) => name).sort(),
        allQueues.map(({ name }) => name).sort(),
      );
    });

    it("shows the messages of one address and kind with their codes and links", async () => {
      const email = "Operator.Test@example.com";
      const body = JSON.stringify({ email });
      const headers = { "Content-Type": "application/json" };
      await fetch(`${service.url}/v1/subscribe`, { method: "POST", headers, body });
      const list = async (query: string) => {
        const response = await call(`/operator/outbox?${query}`, { headers: asOperator() });
        return ((await response.json()) as { body: { messages: { links: string[] }[] } }).body
          .messages;
      };
      const query = new URLSearchParams({ kind: "mail", to: email }).toString();
      const deadline = performance.now() + 60_000;
      while (((await list(query))[0]?.links ?? []).length < 2) {
        assert.ok(performance.now() < deadline, "the mail was never delivered");
        await new Promise((done) => setTimeout(done, 50));
      }
      assert.match(
        (await list(query))[0]?.links[0] ?? "",
        /\/v1\/gateway\/verify\?email=operator\.test%40/,
      );
      assert.deepEqual(await list(query.replace("mail", "sms")), []);
      const wrong = await call("/operator/outbox?kind=fax", { headers: asOperator() });
      assert.equal(wrong.status, 400);
    });

    it("lists every process and describes itself as OpenAPI", async () => {
      const roles = (await service.processes()).map(({ role }) => role);
      assert.deepEqual(roles, ["http", "jobs", "operator"]);
      const response = await call("/operator/openapi.json", { headers: asOperator() });
      const document = (await response.json()) as { openapi: string; paths: object };
      assert.equal(document.openapi, "3.1.0");
      assert.ok("/operator/queues" in document.paths);
    });

    it("shows the runs that compare wallets with their ledgers", async () => {
      const deadline = performance.now() + 60_000;
      const read = async () => {
        const answer = await call("/operator/wallets", { headers: asOperator() });
        assert.equal(answer.status, 200);
        const { body } = (await answer.json()) as {
          body: { num_differences: number; rounds: { finished_at: string | null }[] };
        };
        return body;
      };
      let shown = await read();
      // The start of the service queues the job, which runs soon after.
      while (!shown.rounds[0]?.finished_at) {
        assert.ok(performance.now() < deadline, "no round ended");
        await new Promise((done) => setTimeout(done, 50));
        shown = await read();
      }
      assert.equal(shown.num_differences, 0);
    });
  });
  describe("ends sessions and limits guesses", () => {
    it("ends a browser's session at logout, even for copies of its cookie", async () => {
      const signIn = async () =>
        ((await login(service.operatorToken)).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const [one, other] = [await signIn(), await signIn()];
      const statusWith = async (cookie: string) =>
        (await call("/operator/workers", { headers: { Cookie: cookie } })).status;
      assert.deepEqual([await statusWith(one), await statusWith(other)], [200, 200]);
      const out = await call("/operator/logout", { method: "POST", headers: { Cookie: one } });
      assert.equal(out.status, 303);
      assert.match(out.headers.get("set-cookie") ?? "", /^operator=; .*Max-Age=0/);
      assert.deepEqual([await statusWith(one), await statusWith(other)], [401, 200]);
      const board = await call("/operator/queues/board", { headers: { Cookie: one } });
      assert.equal(board.status, 401);
    });

    it("blocks guesses after ten failures, and still accepts the right token", async () => {
      const [pair = ""] = (
        (await login(service.operatorToken)).headers.get("set-cookie") ?? ""
      ).split(";");
      const statuses: number[] = [];
      for (let i = 0; i < 12; i++) statuses.push((await login(`guess-${i}`)).status);
      assert.deepEqual(new Set(statuses.slice(0, 9)), new Set([401]));
      assert.equal(statuses.at(-1), 429);
      const bearer = (token: string) =>
        call("/operator/workers", { headers: { Authorization: `Bearer ${token}` } });
      const refused = await bearer("guess");
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      assert.equal((await login(service.operatorToken)).status, 303);
      assert.equal((await bearer(service.operatorToken)).status, 200);
      assert.equal((await call("/operator/workers", { headers: { Cookie: pair } })).status, 200);
      assert.equal((await login("guess")).status, 429);
    });
  });
});
