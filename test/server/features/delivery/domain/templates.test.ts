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
        const isAddress = (role: string) => role === "link" || role === "unsubscribe";
        const params = Object.fromEntries(
          Object.entries(template.params).map(([param, role]) => [
            param,
            isAddress(role) ? `https://games.example/${param}` : `value-of-${param}`,
          ]),
        );
        const { subject, text, html, replyTo } = render(template, locale, params, brand);
        const bodies = template.kind === "mail" ? [text, html ?? ""] : [text];
        assert.equal(html === null, template.kind === "sms");
        for (const part of [subject, ...bodies]) {
          assert.notEqual(part.trim(), "");
          assert.doesNotMatch(part, placeholder);
        }
        for (const [param, value] of Object.entries(params))
          for (const body of bodies)
            assert.ok(`${subject} ${replyTo} ${body}`.includes(value), param);
      });

  it("has another text in each language", () => {
    for (const [name, { texts }] of Object.entries<Template>(templates))
      assert.notDeepEqual(texts.en.paragraphs, texts.de.paragraphs, name);
  });
});
