import { stringify } from "csv-stringify/sync";

type Cell = string | number | null;

/**
 * Lines after a header line (RFC 4180). A text that a spreadsheet would run as a formula gets a leading apostrophe,
 * since others choose texts. A byte order mark comes first: without it spreadsheets do not read UTF-8.
 */
export const csvOf = (columns: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  // Quotes every text: the library's default does not quote a lone line feed.
  stringify([[...columns], ...rows.map((row) => [...row])], {
    record_delimiter: "\r\n",
    escape_formulas: true,
    quoted_string: true,
    bom: true,
  });
