import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { member as newMember, startReview, type Review } from "../../support/review.ts";

let review: Review;
const open: Review["open"] = (...input) => review.open(...input);
const submit: Review["submit"] = (...input) => review.submit(...input);
const list: Review["list"] = (...input) => review.list(...input);
const member = () => newMember(review.app);

describe("the avatar review page", () => {
  before(async () => {
    review = await startReview();
  });
  after(() => review.stop());

  it("lists pending pictures, records decisions with their reasons and undoes them", async () => {
    const one = await member();
    const id = String((await one.send()).id);
    const picture = `src="/operator/avatar-uploads/${id}/picture"`;
    assert.ok((await (await open()).text()).includes(picture));
    const reason = "<b>not you</b>";
    const rejected = await submit({ id, verb: "reject", reason });
    assert.deepEqual(
      [rejected.status, rejected.headers.get("location")],
      [303, "/operator/avatars?status=queued"],
    );
    assert.ok(!(await (await open()).text()).includes(picture));
    const decided = await (await open("?status=rejected")).text();
    assert.ok(decided.includes(picture) && decided.includes("&#60;b&#62;not you"));
    assert.equal((await submit({ id, verb: "undo" })).status, 303);
    assert.equal((await submit({ id, verb: "approve" })).status, 303);
    assert.ok(await one.isPicture());
  });

  it("returns to the same page of the same list, at the next entry", async () => {
    const one = await member();
    const [id, next] = [String((await one.send()).id), String((await one.send()).id)];
    const cursor = String(Number(id) - 1);
    const html = await (await open(`?status=queued&cursor=${cursor}`)).text();
    const form = html.slice(html.indexOf(`name="id" value="${id}"`));
    assert.ok(form.includes(`name="cursor" value="${cursor}"`));
    assert.ok(form.includes(`name="next" value="${next}"`));
    const place = { cursor, next };
    const problem = await submit({ id, verb: "reject", reason: "", ...place });
    assert.ok((await problem.text()).includes(`name="cursor" value="${cursor}"`));
    const done = await submit({ id, verb: "approve", ...place });
    const address = `/operator/avatars?status=queued&cursor=${cursor}#upload-${next}`;
    assert.equal(done.headers.get("location"), address);
    const odd = { cursor: "1&x", next: '"><b>' };
    const answer = await submit({ id: next, verb: "approve", ...odd });
    assert.equal(answer.headers.get("location"), "/operator/avatars?status=queued");
  });

  it("explains why nothing was changed", async () => {
    const id = String((await (await member()).send()).id);
    for (const [fields, problem] of [
      [{ id, verb: "reject", reason: " " }, /requires a reason/],
      [{ id, verb: "reject", reason: "x".repeat(256) }, /requires a reason/],
      [{ id, verb: "undo" }, /role="alert"/],
      [{ id: "2147483647", verb: "approve" }, /role="alert"/],
    ] as const) {
      const answer = await submit(fields);
      assert.equal(answer.status, 422);
      assert.match(await answer.text(), problem);
    }
    assert.ok(
      (await list()).uploads.some((upload) => String(upload.id) === id),
      "it still waits",
    );
  });

  it("does not overwrite a decision made since the page was rendered", async () => {
    const one = await member();
    const id = String((await one.send()).id);
    const html = await (await open("?status=queued")).text();
    const section = html.slice(html.indexOf(`name="id" value="${id}"`));
    const seen = /name="seen" value="([^"]+)"/.exec(section)?.[1] ?? "";
    assert.equal((await submit({ id, verb: "reject", reason: "No.", seen })).status, 303);
    const late = await submit({ id, verb: "approve", seen });
    assert.equal(late.status, 422);
    assert.match(
      await late.text(),
      /Somebody decided meanwhile: rejected by operator:the operator/,
    );
    assert.equal(await one.isPicture(), false);
    assert.equal((await list("?status=rejected")).uploads[0]?.id, Number(id));
  });

  it("asks a browser with an expired session to sign in, and reports that nothing was changed", async () => {
    const headers = { cookie: "operator=ended", accept: "text/html" };
    const page = await open("", "", headers);
    assert.deepEqual([page.status, page.headers.get("location")], [303, "/operator/login"]);
    const answer = await submit({ id: "1", verb: "approve" }, headers);
    assert.equal(answer.status, 401);
    assert.match(await answer.text(), /nothing was changed[^]*name="token"/);
  });

  it("shows errors to a browser as a page", async () => {
    const headers = { accept: "text/html,application/xhtml+xml" };
    const refused = await open("", "viewer", headers);
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /^<!doctype html>[^]*role="alert"[^]*href="\/operator"/);
    const foreign = await submit({ id: "1" }, { ...headers, "sec-fetch-site": "cross-site" });
    assert.equal(foreign.status, 403);
    assert.match(foreign.headers.get("content-type") ?? "", /^text\/html/);
    const nowhere = await fetch(`${review.url}/operator/nowhere`, { headers });
    assert.equal(nowhere.status, 404);
    assert.match(await nowhere.text(), /^<!doctype html>/);
    const program = await open("", "viewer", { accept: "application/json" });
    assert.match(program.headers.get("content-type") ?? "", /json/);
  });

  it("is served only to operators, from the operator pages", async () => {
    assert.equal((await open("", "viewer")).status, 403);
    const foreign = await submit({ id: "1", verb: "approve" }, { "sec-fetch-site": "cross-site" });
    assert.equal(foreign.status, 403);
  });
});
