import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Brand } from "../../../../../server/features/delivery/domain/brand.ts";
import { render } from "../../../../../server/features/delivery/domain/render.ts";
import {
  templates,
  type Template,
} from "../../../../../server/features/delivery/domain/templates.ts";

const brand: Brand = {
  name: "Bright Games",
  color: "#b4430f",
  textColor: "#ffffff",
  logoUrl: null,
  supportEmail: null,
  privacyUrl: null,
  termsUrl: null,
};

/** No mail may contain an unfilled placeholder. */
const placeholder = /\{\w+\}/;

describe("every message", () => {
  for (const [name, template] of Object.entries<Template>(templates))
    for (const locale of ["en", "de"])
      it(`is complete as text and as HTML: ${name} in ${locale}`, () => {
        const isAddress = (role: string) => ["link", "leave", "unsubscribe"].includes(role);
        const params = Object.fromEntries(
          Object.entries(template.params).map(([param, role]) => [
            param,
            isAddress(role) ? `https://games.example/${param}` : `value-of-${param}`,
          ]),
        );
        const { subject, text, html, replyTo, unsubscribeUrl } = render(
          template,
          locale,
          params,
          brand,
        );
        const bodies = template.kind === "mail" ? [text, html ?? ""] : [text];
        assert.equal(html === null, template.kind === "sms");
        for (const part of [subject, ...bodies]) {
          assert.notEqual(part.trim(), "");
          assert.doesNotMatch(part, placeholder);
        }
        for (const [param, value] of Object.entries(params))
          for (const body of bodies)
            assert.ok(`${subject} ${replyTo} ${unsubscribeUrl} ${body}`.includes(value), param);
      });

  it("links to the page that asks, beside the address for one click", () => {
    const params = {
      leave: "https://games.example/ask",
      unsubscribe: "https://games.example/at-once",
    };
    const mail = render(templates["subscribe-welcome"], "en", params, brand);
    assert.equal(mail.unsubscribeUrl, params.unsubscribe);
    assert.deepEqual(mail.links, [params.leave]);
    assert.doesNotMatch(`${mail.text} ${mail.html}`, /at-once/);
  });

  it("of an earlier release still says how to leave", () => {
    const params = { unsubscribe: "https://games.example/at-once" };
    const mail = render(templates["subscribe-welcome"], "en", params, brand);
    assert.equal(mail.unsubscribeUrl, params.unsubscribe);
    assert.match(mail.text, /at-once/);
  });

  it("has a subject and a sender of bounded length that end with a whole character", () => {
    const params = {
      fullname: "Ada",
      email: "ada@example.com",
      discovery: "friends",
      subject: "🇩🇪".repeat(100),
      message: "Hello there",
    };
    const many = { ...brand, name: "👩‍👩‍👧".repeat(40) };
    const { subject, fromName } = render(templates.contact, "en", params, many);
    assert.match(subject, /^Contact: (🇩🇪)+$/u);
    assert.match(fromName, /^(👩‍👩‍👧)+$/u);
    assert.ok(subject.length > 190 && subject.length <= 200 && fromName.length <= 128);
  });

  it("has another text in each language", () => {
    for (const [name, { texts }] of Object.entries<Template>(templates))
      assert.notDeepEqual(texts.en.paragraphs, texts.de.paragraphs, name);
  });
});
