import { cutText } from "../../../platform/text/cut-text.ts";
import type { MessageContent } from "../../../../db/entities/message.ts";
import type { Brand } from "./brand.ts";
import type { ParamRole, Template, TemplateText } from "./templates.ts";

/** A message ready for a driver and for the inbox. */
export interface Rendered extends MessageContent {
  fromName: string;
  replyTo: string | null;
  unsubscribeUrl: string | null;
}

type Params = Readonly<Record<string, string>>;

const maxSubject = 200;
const maxName = 128;
const placeholder = /\{([a-z]+)\}/g;
const alone = /^\{([a-z]+)\}$/;
/** Line breaks and other characters with a meaning in mail headers (S22). */
const control = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

const footerTexts = {
  en: { unsubscribe: "Unsubscribe", support: "Help", privacy: "Privacy", terms: "Terms" },
  de: {
    unsubscribe: "Abbestellen",
    support: "Hilfe",
    privacy: "Datenschutz",
    terms: "Bedingungen",
  },
};

/** Renders a template in the language of `locale` as text and as HTML with `brand`; every parameter is escaped. */
export function render(template: Template, locale: string, params: Params, brand: Brand): Rendered {
  const language = locale.toLowerCase().split("-", 1)[0] === "de" ? "de" : "en";
  const source = template.texts[language];
  const values = { ...params, brand: oneLine(brand.name) };
  const byRole = (role: ParamRole) =>
    Object.keys(template.params).flatMap((name) =>
      template.params[name] === role && params[name] !== undefined ? [params[name]] : [],
    );
  const [unsubscribeUrl = null] = byRole("unsubscribe");
  // A message of an earlier release has only the latter.
  const [leaveUrl = unsubscribeUrl] = byRole("leave");
  const isMail = template.kind === "mail";
  const footer = isMail ? footerOf(footerTexts[language], brand, leaveUrl) : [];
  return {
    fromName: cutText(values.brand, maxName),
    subject: cutText(oneLine(fill(source.subject, values)), maxSubject),
    text: textOf(source, values, footer),
    html: isMail ? htmlOf(template, source, values, { language, footer, brand }) : null,
    code: byRole("code")[0] ?? null,
    links: [...byRole("link"), ...(leaveUrl === null ? [] : [leaveUrl])],
    replyTo: byRole("reply")[0] ?? null,
    unsubscribeUrl,
  };
}

export const oneLine = (text: string): string => text.replace(control, " ").trim();

/** Single pass: braces inside a value are literal. */
function fill(text: string, values: Params, shape: (value: string) => string = (v) => v): string {
  return text.replace(placeholder, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? whole : shape(value);
  });
}

interface FooterLine {
  label: string;
  url: string;
  /** The address in readable form. */
  shown: string;
}

function footerOf(
  labels: (typeof footerTexts)["en"],
  brand: Brand,
  leaveUrl: string | null,
): FooterLine[] {
  const { supportEmail, privacyUrl, termsUrl } = brand;
  const supportUrl = supportEmail === null ? null : `mailto:${encodeURI(supportEmail)}`;
  const lines: [label: string, url: string | null, shown: string | null][] = [
    [labels.unsubscribe, leaveUrl, leaveUrl],
    [labels.support, supportUrl, supportEmail],
    [labels.privacy, privacyUrl, privacyUrl],
    [labels.terms, termsUrl, termsUrl],
  ];
  return lines.flatMap(([label, url, shown]) =>
    url === null || shown === null ? [] : [{ label, url, shown: oneLine(shown) }],
  );
}

function textOf(source: TemplateText, values: Params, footer: readonly FooterLine[]): string {
  const paragraphs = source.paragraphs.map((paragraph) => fill(paragraph, values));
  const lines = footer.map(({ label, shown }) => `${label}: ${shown}`);
  if (lines.length > 0) paragraphs.push(`-- \n${lines.join("\n")}`);
  return paragraphs.join("\n\n");
}

const styles = {
  body: "margin:0;padding:24px;background:#faf7f4;color:#292018;font:16px/1.5 sans-serif",
  card: "max-width:32rem;margin:0 auto;padding:24px;background:#fff;border:1px solid #e2d8cf;border-radius:12px",
  code: "font:600 28px/1.4 monospace;letter-spacing:6px",
  head: "margin:0 0 20px;font-weight:600",
  logo: "max-height:40px;max-width:160px;vertical-align:middle;margin-right:10px;border:0",
  button:
    "display:inline-block;padding:10px 18px;border-radius:9px;text-decoration:none;font-weight:600",
  small: "color:#6b5d52;font-size:13px;overflow-wrap:anywhere",
};

function htmlOf(
  template: Template,
  source: TemplateText,
  values: Params,
  look: { language: string; footer: readonly FooterLine[]; brand: Brand },
): string {
  const { language, footer, brand } = look;
  const blocks = source.paragraphs.map((text) => block(template, source, text, values, brand));
  const links = footer.map(
    ({ label, url }) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
  );
  const end = links.length > 0 ? `<p style="${styles.small}">${links.join(" · ")}</p>` : "";
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${escapeHtml(oneLine(fill(source.subject, values)))}</title></head>
<body style="${styles.body}"><div style="${styles.card};border-top:4px solid ${brand.color}">
${headOf(brand)}
${blocks.join("\n")}
${end}</div></body></html>`;
}

/** Mail programs that load no pictures show the name. */
function headOf({ name, logoUrl }: Brand): string {
  const shown = escapeHtml(oneLine(name));
  const logo =
    logoUrl === null ? "" : `<img src="${escapeHtml(logoUrl)}" alt="" style="${styles.logo}">`;
  return `<p style="${styles.head}">${logo}${shown}</p>`;
}

function block(
  template: Template,
  source: TemplateText,
  text: string,
  values: Params,
  brand: Brand,
): string {
  const name = alone.exec(text)?.[1] ?? "";
  const value = escapeHtml(values[name] ?? "");
  const role = Object.hasOwn(template.params, name) ? template.params[name] : undefined;
  if (role === "code") return `<p style="${styles.code}">${value}</p>`;
  if (role === "quote") return `<p style="white-space:pre-wrap">${value}</p>`;
  if (role === "link") {
    const button = `${styles.button};background:${brand.color};color:${brand.textColor}`;
    return `<p><a href="${value}" style="${button}">${escapeHtml(source.action ?? "Open")}</a></p>
<p style="${styles.small}">${value}</p>`;
  }
  return `<p>${fill(escapeHtml(text), values, escapeHtml)}</p>`;
}

/** Does not escape braces, so that a text may be escaped before it is filled. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
