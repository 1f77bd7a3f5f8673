import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** A program that runs clients in another language. */
export interface Runtime {
  path: string;
  /** First line of its version output. */
  version: string;
}

export type Language = "curl" | "python" | "go" | "java" | "php" | "ruby";

interface Wanted {
  program: string;
  versionArgs: string[];
  /** Debian package that contains it. */
  debian: string;
}

const wanted: Readonly<Record<Language, Wanted>> = {
  curl: { program: "curl", versionArgs: ["--version"], debian: "curl" },
  // Prints nothing without `requests`, since the first python3 on the path need not be the system's.
  python: {
    program: "python3",
    versionArgs: [
      "-c",
      "import platform, requests; print(f'Python {platform.python_version()}, requests {requests.__version__}')",
    ],
    debian: "python3-requests",
  },
  go: { program: "go", versionArgs: ["version"], debian: "golang-go" },
  // Not `java`, which may be installed without the compiler needed to run a source file.
  java: { program: "javac", versionArgs: ["--version"], debian: "default-jdk-headless" },
  php: { program: "php", versionArgs: ["--version"], debian: "php-cli" },
  ruby: { program: "ruby", versionArgs: ["--version"], debian: "ruby" },
};

const answerLimitMs = 60_000;

/** The first one that works, or the reason why there is none. */
export async function findRuntime(language: Language): Promise<Runtime | string> {
  const { program, versionArgs, debian } = wanted[language];
  const folders = new Set([...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin"]);
  let problem = `no ${program} on this machine`;
  for (const path of [...folders].map((folder) => join(folder, program))) {
    if (!existsSync(path)) continue;
    try {
      const run = promisify(execFile);
      const { stdout } = await run(path, versionArgs, { timeout: answerLimitMs });
      return { path, version: stdout.split("\n", 1)[0] ?? "" };
    } catch (error) {
      problem = `${path} does not work: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return `${problem} (Debian: apt-get install ${debian})`;
}
