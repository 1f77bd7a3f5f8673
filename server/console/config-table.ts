import { ConfigSchema, secretSettings } from "../platform/config/settings.ts";

/** Defaults that depend on the machine. */
const decidedLater: Record<string, string> = { HTTP_WORKERS: "usable cores" };

interface Setting {
  type: string;
  default?: unknown;
  description?: string;
}

/** Every setting as a Markdown table; a test compares it with the README. */
export function configTable(): string {
  const rows = Object.entries<Setting>(ConfigSchema.properties).map(([name, setting]) => [
    `\`${name}\``,
    decidedLater[name] ?? shown(setting.default),
    described(name, setting).replaceAll("|", "\\|"),
  ]);
  const table = [["setting", "default", "meaning"], ["---", "---", "---"], ...rows];
  return table.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** Every setting as `.env.example`; a test compares them. Each line is a comment until it is uncommented. */
export function envExample(): string {
  const settings = Object.entries<Setting>(ConfigSchema.properties).map(([name, setting]) => {
    const value = name in decidedLater ? "" : String(setting.default ?? "");
    return `# ${described(name, setting)}\n# ${name}=${value}\n`;
  });
  const head =
    "# Settings of emberline with their defaults. Copy this file to .env and uncomment what you change.\n" +
    "# A secret is the setting itself or, as <NAME>_FILE, the path of a file with it; both are refused.\n" +
    "# Social logins have settings of their own, OAUTH_<NAME>_...\n" +
    "# `npm run console -- config --env` prints this file.\n";
  return [head, ...settings].join("\n");
}

function described(name: string, { description = "" }: Setting): string {
  return secretSettings.includes(name)
    ? `${description}; or ${name}_FILE: a file with it`
    : description;
}

function shown(value: unknown): string {
  return value === "" ? "" : `\`${String(value)}\``;
}
