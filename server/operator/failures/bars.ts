import { html, type Html } from "../html.ts";

const secondsPerBar = 3_600;
const height = 40;
/** Width of a bar and of the gap after it. */
const [width, gap] = [10, 2];

/** Counts of periods, oldest first, as one bar an hour. The title of each bar and the label say the figures. */
export function bars(periods: readonly number[], periodSeconds: number): Html {
  const perBar = Math.max(1, Math.round(secondsPerBar / periodSeconds));
  const counts = Array.from({ length: Math.ceil(periods.length / perBar) }, (_, at) =>
    periods.slice(at * perBar, (at + 1) * perBar).reduce((sum, count) => sum + count, 0),
  );
  const most = Math.max(1, ...counts);
  return html`<svg
      class="bars"
      role="img"
      aria-label="By hour, oldest first: ${counts.join(", ")}"
      viewBox="0 0 ${counts.length * (width + gap)} ${height}"
    >
      ${counts.map((count, at) => {
        const tall = count === 0 ? 0 : Math.max(1, Math.round((count / most) * height));
        return html`<rect
          x="${at * (width + gap)}"
          y="${height - tall}"
          width="${width}"
          height="${tall}"
        >
          <title>${count}</title>
        </rect>`;
      })}
    </svg>
    <p class="quiet">By hour; the highest bar is ${Math.max(0, ...counts)}.</p>`;
}
