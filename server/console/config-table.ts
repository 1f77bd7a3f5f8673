import { ConfigSchema } from "../core/config.ts";

/** Defaults that the machine decides. */
const decidedLater: Record<string, string> = { HTTP_WORKERS: "number of cores" };

interface Setting {
  type: string;
  default?: unknown;
  description?: string;
}

/** Every setting as the Markdown table of the README, which a test compares. */
export function configTable(): string {
  const rows = Object.entries<Setting>(ConfigSchema.properties).map(([name, setting]) => [
    `\`${name}\``,
    decidedLater[name] ?? shown(setting.default),
    (setting.description ?? "").replaceAll("|", "\\|"),
  ]);
  const table = [["setting", "default", "meaning"], ["---", "---", "---"], ...rows];
  return table.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

function shown(value: unknown): string {
  return value === "" ? "" : `\`${String(value)}\``;
}
