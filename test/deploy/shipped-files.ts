import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { settingsFindings } from "../../server/console/doctor/settings.ts";
import type { Config } from "../../server/platform/config/config.ts";

export const root = join(import.meta.dirname, "../..");
export const shippedPath = (name: string): string => join(root, ".deploy", name);
export const readShipped = (name: string): string => readFileSync(shippedPath(name), "utf8");

/** A file of settings. */
export const readSettings = (name: string): Record<string, string> =>
  parseEnv(readShipped(name)) as Record<string, string>;

/** What `console doctor` refuses of the settings. */
export const problemsOf = (config: Config): string[] =>
  settingsFindings(config).flatMap(({ verdict, found }) => (verdict === "problem" ? [found] : []));

/** Instructions of the last stage of the Dockerfile, and the steps of the first one. */
export function readDockerfile() {
  const text = readShipped("image/Dockerfile").replaceAll(/\\\n\s*/g, "");
  const [build = "", final = ""] = text.split(/^FROM /m).slice(1);
  const all = (stage: string, name: string) =>
    [...stage.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, value = ""]) => value);
  const [entrypoint = "[]"] = all(final, "ENTRYPOINT");
  return {
    /** Commands of the build, without the options of RUN. */
    steps: all(build, "RUN").map((step) => step.replace(/^--\S+ /, "")),
    copies: all(final, "COPY"),
    runs: all(final, "RUN"),
    env: parseEnv(
      all(final, "ENV")
        .flatMap((line) => line.split(" "))
        .join("\n"),
    ) as Record<string, string>,
    user: all(final, "USER")[0] ?? "",
    entrypoint: JSON.parse(entrypoint) as string[],
    healthcheck: all(final, "HEALTHCHECK")[0] ?? "",
  };
}

/** Secrets as `make-secrets` makes them, in a new folder; those of other services are filled in. */
export function makeSecrets(): string {
  const folder = mkdtempSync(join(tmpdir(), "ember-compose-"));
  cpSync(shippedPath("compose/make-secrets"), join(folder, "make-secrets"));
  execFileSync(join(folder, "make-secrets"));
  const secrets = join(folder, "secrets");
  writeFileSync(join(secrets, "avatar-store"), "https://id:key@pictures.example/avatars\n");
  writeFileSync(join(secrets, "smtp-url"), "smtp://mail.example\n");
  return secrets;
}
