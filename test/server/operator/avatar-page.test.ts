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
      [303, "/operator/avatar-uploads"],
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
    const place = `?status=queued&limit=24&cursor=${Number(id) - 1}`;
    const html = await (await open(place)).text();
    const form = html.slice(html.indexOf(`action="/operator/avatar-uploads/${id}/approve"`));
    const back = /name="back"\s+value="([^"]+)"/.exec(form)?.[1]?.replaceAll("&#38;", "&") ?? "";
    assert.equal(back, `/operator/avatar-uploads${place}#upload-${next}`);
    const done = await submit({ id, verb: "approve", back });
    assert.equal(done.headers.get("location"), back);
    for (const elsewhere of [
      "https://evil.example/",
      "//evil.example",
      "/operator\\\\evil",
      "/x",
    ]) {
      const answer = await submit({ id: next, verb: "approve", back: elsewhere });
      assert.equal(answer.status, 422, elsewhere);
      assert.equal(answer.headers.get("location"), null);
    }
  });

  it("explains why nothing was changed", async () => {
    const id = String((await (await member()).send()).id);
    for (const [fields, status, problem] of [
      [{ id, verb: "reject", reason: " " }, 422, /role="alert"[^]*reason/],
      [{ id, verb: "reject", reason: "x".repeat(256) }, 422, /role="alert"[^]*reason/],
      [{ id, verb: "undo" }, 409, /role="alert"/],
      [{ id: "2147483647", verb: "approve" }, 404, /role="alert"/],
    ] as const) {
      const from = `${review.url}/operator/avatar-uploads?status=queued`;
      const answer = await submit(fields, { referer: from });
      assert.equal(answer.status, status);
      const text = await answer.text();
      assert.match(text, problem);
      assert.match(text, /href="\/operator\/avatar-uploads\?status=queued">Back/);
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
    const section = html.slice(html.indexOf(`id="upload-${id}"`));
    const seen = /name="seen" value="([^"]+)"/.exec(section)?.[1] ?? "";
    assert.equal((await submit({ id, verb: "reject", reason: "No.", seen })).status, 303);
    const late = await submit({ id, verb: "approve", seen });
    assert.equal(late.status, 409);
    assert.match(
      await late.text(),
      /Somebody decided meanwhile\.[^]*rejected[^]*operator:the operator/,
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
    const refused = await fetch(`${review.url}/operator/avatar-uploads/1/picture`, {
      headers: { ...headers, cookie: "operator=token-of-viewer" },
    });
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /^<!doctype html>[^]*role="alert"[^]*href="\/operator"/);
    const foreign = await submit(
      { id: "1", verb: "approve" },
      { ...headers, "sec-fetch-site": "cross-site" },
    );
    assert.equal(foreign.status, 403);
    assert.match(foreign.headers.get("content-type") ?? "", /^text\/html/);
    const nowhere = await fetch(`${review.url}/operator/nowhere`, { headers });
    assert.equal(nowhere.status, 404);
    assert.match(await nowhere.text(), /^<!doctype html>/);
    const program = await open("", "nobody", { accept: "application/json" });
    assert.match(program.headers.get("content-type") ?? "", /json/);
  });

  it("shows a viewer the list without pictures and buttons", async () => {
    const { id } = await (await member()).send();
    const text = await (await open("", "viewer")).text();
    assert.ok(text.includes(`id="upload-${id}"`));
    assert.doesNotMatch(text, /<img|<form method="post" action="\/operator\/avatar/);
    const foreign = await submit({ id: "1", verb: "approve" }, { "sec-fetch-site": "cross-site" });
    assert.equal(foreign.status, 403);
  });
});
