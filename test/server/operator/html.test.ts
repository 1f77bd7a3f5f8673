import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { html } from "../../../server/operator/html.ts";

const image = `<img src=x onerror=alert(1)>`;

describe("html of the operator pages", () => {
  it("shows texts of others as text, in elements and in attributes", () => {
    const { markup } = html`<p title="${`"${image}`}">${image}</p>`;
    assert.equal(
      markup,
      '<p title="&#34;&#60;img src=x onerror=alert(1)&#62;">&#60;img src=x onerror=alert(1)&#62;</p>',
    );
    assert.equal(html`${"it's `&`"}`.markup, "it&#39;s &#96;&#38;&#96;");
  });

  it("escapes each text of a list, and nothing twice", () => {
    const rows = [image, "b"].map((text) => html`<b>${text}</b>`);
    const { markup } = html`<p>${rows}</p>`;
    assert.equal(markup, "<p><b>&#60;img src=x onerror=alert(1)&#62;</b><b>b</b></p>");
    assert.equal(html`${["<", ["&"]]}`.markup, "&#60;&#38;");
  });

  it("leaves out what is not there, and shows zero", () => {
    assert.equal(html`${null}${undefined}${false}${0}`.markup, "0");
  });

  it("takes no HTML from an object that only looks like it", () => {
    const forged = { markup: image } as never;
    assert.throws(() => html`${forged}`);
  });
});
