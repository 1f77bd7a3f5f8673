/** One text for every refused link of a mail. */
export const linkRefused = {
  en: "This link was used already, has expired, or was replaced by a newer one. Open the link in the newest mail.",
  de: "Dieser Link wurde schon benutzt, ist abgelaufen oder durch einen neueren ersetzt. Öffne den Link aus der neuesten Mail.",
} as const;
