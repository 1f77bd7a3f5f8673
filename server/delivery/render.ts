import type { MessageContent } from "../../db/entities/message.ts";
import type { ParamRole, Template, TemplateText } from "./templates.ts";

/** A message ready for a driver and for the inbox. */
export interface Rendered extends MessageContent {
  replyTo: string | null;
  unsubscribeUrl: string | null;
}

type Params = Readonly<Record<string, string>>;

const maxSubject = 200;
const placeholder = /\{([a-z]+)\}/g;
const alone = /^\{([a-z]+)\}$/;
/** Line breaks and what else a mail reader could take for structure (S22). */
const control = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

const unsubscribeTexts = { en: "Unsubscribe", de: "Abbestellen" };

/** Fills a template in the language of `locale`, as text and as HTML; every parameter is shown as text. */
export function render(
  template: Template,
  locale: string,
  params: Params,
  brand: string,
): Rendered {
  const language = locale.toLowerCase().split("-", 1)[0] === "de" ? "de" : "en";
  const source = template.texts[language];
  const values = { ...params, brand };
  const byRole = (role: ParamRole) =>
    Object.keys(template.params).flatMap((name) =>
      template.params[name] === role ? [params[name] ?? ""] : [],
    );
  const [unsubscribeUrl = null] = byRole("unsubscribe");
  const footer =
    unsubscribeUrl === null ? null : { label: unsubscribeTexts[language], url: unsubscribeUrl };
  const isMail = template.kind === "mail";
  return {
    subject: oneLine(fill(source.subject, values)).slice(0, maxSubject).toWellFormed(),
    text: textOf(source, values, footer),
    html: isMail ? htmlOf(template, source, values, { language, footer }) : null,
    code: byRole("code")[0] ?? null,
    links: [...byRole("link"), ...byRole("unsubscribe")],
    replyTo: byRole("reply")[0] ?? null,
    unsubscribeUrl,
  };
}

export const oneLine = (text: string): string => text.replace(control, " ").trim();

/** A value is put in once: braces inside it mean nothing. */
function fill(text: string, values: Params, shape: (value: string) => string = (v) => v): string {
  return text.replace(placeholder, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? whole : shape(value);
  });
}

interface Footer {
  label: string;
  url: string;
}

function textOf(source: TemplateText, values: Params, footer: Footer | null): string {
  const paragraphs = source.paragraphs.map((paragraph) => fill(paragraph, values));
  if (footer) paragraphs.push(`-- \n${footer.label}: ${footer.url}`);
  return paragraphs.join("\n\n");
}

const styles = {
  body: "margin:0;padding:24px;background:#faf7f4;color:#292018;font:16px/1.5 sans-serif",
  card: "max-width:32rem;margin:0 auto;padding:24px;background:#fff;border:1px solid #e2d8cf;border-radius:12px",
  code: "font:600 28px/1.4 monospace;letter-spacing:6px",
  button:
    "display:inline-block;padding:10px 18px;border-radius:9px;background:#b4430f;color:#fff;text-decoration:none;font-weight:600",
  small: "color:#6b5d52;font-size:13px;overflow-wrap:anywhere",
};

function htmlOf(
  template: Template,
  source: TemplateText,
  values: Params,
  { language, footer }: { language: string; footer: Footer | null },
): string {
  const blocks = source.paragraphs.map((paragraph) => block(template, source, paragraph, values));
  const end = footer
    ? `<p style="${styles.small}"><a href="${escapeHtml(footer.url)}">${escapeHtml(footer.label)}</a></p>`
    : "";
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${escapeHtml(oneLine(fill(source.subject, values)))}</title></head>
<body style="${styles.body}"><div style="${styles.card}">
${blocks.join("\n")}
${end}</div></body></html>`;
}

function block(template: Template, source: TemplateText, text: string, values: Params): string {
  const name = alone.exec(text)?.[1] ?? "";
  const value = escapeHtml(values[name] ?? "");
  const role = Object.hasOwn(template.params, name) ? template.params[name] : undefined;
  if (role === "code") return `<p style="${styles.code}">${value}</p>`;
  if (role === "quote") return `<p style="white-space:pre-wrap">${value}</p>`;
  if (role === "link")
    return `<p><a href="${value}" style="${styles.button}">${escapeHtml(source.action ?? "Open")}</a></p>
<p style="${styles.small}">${value}</p>`;
  return `<p>${fill(escapeHtml(text), values, escapeHtml)}</p>`;
}

/** Braces are left alone, so that a text may be escaped before it is filled. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
