/** Quality of each media type that an `Accept` header names. */
export function acceptedTypes(accept: string | undefined): ReadonlyMap<string, number> {
  return new Map(
    (accept ?? "").split(",").map((entry) => {
      const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      const q = parameters.find((one) => one.startsWith("q="));
      return [type, q === undefined ? 1 : Number(q.slice(2)) || 0];
    }),
  );
}

/** True for a browser that opens an address as a page. */
export const asksForPage = ({ headers }: { headers: Readonly<Record<string, string>> }): boolean =>
  (acceptedTypes(headers["accept"]).get("text/html") ?? 0) > 0;
