import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { usableCores } from "../../../../server/platform/config/cpu-quota.ts";

interface Case {
  what: string;
  files: Record<string, string>;
  cores: number;
}

const twoOf = (path: string) => ({ "proc/self/cgroup": `0::${path}\n` });
const oneOf = (path: string) => ({
  "proc/self/cgroup": `12:memory:${path}\n4:cpu,cpuacct:${path}\n1:name=systemd:${path}\n`,
});

/** On a machine with eight processors. */
const cases: readonly Case[] = [
  { what: "no control groups", files: {}, cores: 8 },
  {
    what: "version 2 without a quota",
    files: { ...twoOf("/"), "sys/fs/cgroup/cpu.max": "max 100000\n" },
    cores: 8,
  },
  {
    what: "version 2 with a quota of 2.5",
    files: { ...twoOf("/"), "sys/fs/cgroup/cpu.max": "250000 100000\n" },
    cores: 2,
  },
  {
    what: "version 2 with a quota below one processor",
    files: { ...twoOf("/"), "sys/fs/cgroup/cpu.max": "15000 100000\n" },
    cores: 1,
  },
  {
    what: "version 2 with a quota above the processors",
    files: { ...twoOf("/"), "sys/fs/cgroup/cpu.max": "1600000 100000\n" },
    cores: 8,
  },
  {
    what: "version 2 with the smaller quota at the parent",
    files: {
      ...twoOf("/games.slice/emberline.service"),
      "sys/fs/cgroup/games.slice/cpu.max": "300000 100000\n",
      "sys/fs/cgroup/games.slice/emberline.service/cpu.max": "500000 100000\n",
    },
    cores: 3,
  },
  {
    what: "version 1 with a quota of 4",
    files: {
      ...oneOf("/docker/abc"),
      "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "400000\n",
      "sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n",
    },
    cores: 4,
  },
  {
    what: "version 1 inside a container, whose group is the root that it sees",
    files: {
      ...oneOf("/docker/abc"),
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    },
    cores: 2,
  },
  {
    what: "version 1 without a quota",
    files: {
      ...oneOf("/"),
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    },
    cores: 8,
  },
];

describe("the default of HTTP_WORKERS", () => {
  for (const { what, files, cores } of cases)
    it(`is ${cores} with ${what}`, () => {
      const root = mkdtempSync(join(tmpdir(), "ember-cgroup-"));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, name)), { recursive: true });
        writeFileSync(join(root, name), text);
      }
      const found = usableCores(root, 8);
      rmSync(root, { recursive: true });
      assert.equal(found, cores);
    });
});
