/** HTML that was made here; a text from elsewhere becomes part of it only by being escaped. */
export class Html {
  readonly markup: string;

  private constructor(markup: string) {
    this.markup = markup;
  }

  /** The only way to make HTML: literal parts of a template, between which every value is escaped. */
  static of(parts: TemplateStringsArray, values: readonly Value[]): Html {
    const texts = values.map(markupOf);
    return new Html(parts.map((part, i) => part + (texts[i] ?? "")).join(""));
  }
}

/** Null, undefined and false show nothing, so that a part may be left out: `${isPaused && html`<b>paused</b>`}`. */
export type Value = Html | string | number | null | undefined | false | readonly Value[];

/** HTML from a template. Attributes are written in double quotes, and no value stands in a script, a style or a tag. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html =>
  Html.of(parts, values);

function markupOf(value: Value): string {
  if (value instanceof Html) return value.markup;
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "number") return String(value);
  if (value === null || value === undefined || value === false) return "";
  return value.map(markupOf).join("");
}

const escapeText = (text: string): string =>
  text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
