import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { parse, parseAllDocuments } from "yaml";
import { parseConfig } from "../../server/platform/config/config.ts";
import { readDockerfile, readSettings, readShipped, shippedPath } from "./shipped-files.ts";

const kinds = { Deployment, HorizontalPodAutoscaler, PodDisruptionBudget, Service };
type Kind = keyof typeof kinds;

interface Manifest {
  kind: Kind;
  metadata: { name: string };
}

interface Adapter {
  rules: { custom: { seriesQuery: string; name: { as: string } }[] };
}

const kustomization = parse(readShipped("kubernetes/kustomization.yaml")) as {
  resources: string[];
  configMapGenerator: { name: string; envs: string[] }[];
  secretGenerator: { name: string; files: string[] }[];
};
const manifests = kustomization.resources.flatMap((file) =>
  parseAllDocuments(readShipped(`kubernetes/${file}`)).map((one) => one.toJS() as Manifest),
);
const only = (kind: Kind) => manifests.filter((manifest) => manifest.kind === kind);
const deployment = only("Deployment")[0] as unknown as ConstructorParameters<typeof Deployment>[0];
const pod = deployment?.spec?.template.spec;
const container = pod?.containers[0];
const env = Object.fromEntries((container?.env ?? []).map(({ name, value = "" }) => [name, value]));

describe("the shipped Kubernetes manifests", () => {
  for (const manifest of manifests)
    it(`has a valid ${manifest.kind} ${manifest.metadata.name}`, () => {
      new kinds[manifest.kind](manifest as never).validate();
    });

  it("has a valid patch for the connections of draining workers", () => {
    const patch = parse(readShipped("kubernetes/tcp-migration.yaml")) as typeof deployment;
    const { securityContext } = patch?.spec?.template.spec ?? {};
    assert.deepEqual(securityContext?.sysctls, [{ name: "net.ipv4.tcp_migrate_req", value: "1" }]);
    const patched = structuredClone(deployment);
    Object.assign(patched?.spec?.template.spec?.securityContext ?? {}, securityContext);
    new Deployment(patched).validate();
  });

  it("replaces pods without one less, and lets each end in order", () => {
    const { SHUTDOWN_TIMEOUT_SECONDS: timeout } = parseConfig({});
    assert.ok((pod?.terminationGracePeriodSeconds ?? 0) > timeout);
    assert.deepEqual(deployment?.spec?.strategy, {
      type: "RollingUpdate",
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    assert.equal(deployment?.spec?.replicas, undefined, "the autoscaler sets it");
  });

  it("asks the public probes, by the default paths", () => {
    const { PUBLIC_LIVE_PATH: live, PUBLIC_READY_PATH: ready } = parseConfig({});
    const asked = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe];
    assert.deepEqual(
      asked.map((probe) => probe?.httpGet),
      [ready, ready, live].map((path) => ({ path, port: "http" })),
    );
    const port = container?.ports?.find(({ name }) => name === "http")?.containerPort;
    assert.equal(port, parseConfig({}).PORT);
  });

  it("waits longer for a live answer than the service takes to replace frozen workers", () => {
    const { periodSeconds = 0, failureThreshold = 0 } = container?.livenessProbe ?? {};
    assert.ok(periodSeconds * failureThreshold > 15);
  });

  it("runs without rights on a read-only root", () => {
    assert.equal(pod?.securityContext?.runAsNonRoot, true);
    assert.equal(String(pod?.securityContext?.runAsUser), readDockerfile().user.split(":")[0]);
    assert.equal(container?.securityContext?.readOnlyRootFilesystem, true);
    assert.equal(container?.securityContext?.allowPrivilegeEscalation, false);
    assert.deepEqual(container?.securityContext?.capabilities?.drop, ["ALL"]);
  });

  it("keeps one pod during a disruption of nodes, and scales on streams and lag", () => {
    const [budget] = only("PodDisruptionBudget") as unknown as [
      ConstructorParameters<typeof PodDisruptionBudget>[0],
    ];
    assert.equal(budget?.spec?.maxUnavailable, 1);
    const [scaler] = only("HorizontalPodAutoscaler") as unknown as [
      ConstructorParameters<typeof HorizontalPodAutoscaler>[0],
    ];
    assert.ok((scaler?.spec?.minReplicas ?? 0) >= 2);
    const asked = scaler?.spec?.metrics?.map(({ pods }) => pods?.metric.name) ?? [];
    assert.equal(asked.length, 2);
    const { rules } = parse(readShipped("kubernetes/prometheus-adapter.yaml")) as Adapter;
    const recorded = readShipped("monitoring/emberline.rules.yml");
    assert.deepEqual(
      rules.custom.map(({ name }) => name.as),
      asked,
    );
    for (const { seriesQuery } of rules.custom)
      assert.ok(recorded.includes(`record: ${seriesQuery.split("{", 1)[0]}\n`), seriesQuery);
  });

  it("gives the pods settings that a start in production accepts", () => {
    const envs = kustomization.configMapGenerator.flatMap((one) => one.envs);
    const settings = Object.assign({}, ...envs.map((file) => readSettings(`kubernetes/${file}`)));
    const folder = mkdtempSync(join(tmpdir(), "ember-pod-"));
    const contents: Record<string, string> = {
      "app-secret": "k8Qn0vXc1tYb7uZe3wRa5sDf9gHj2lPo",
      "avatar-store": "https://id:key@pictures.example/avatars",
      "database-url": "postgres://db.example/games",
      "redis-url": "redis://cache.example",
      "smtp-url": "smtp://mail.example",
    };
    const files = kustomization.secretGenerator.flatMap((one) => one.files);
    assert.deepEqual(
      files,
      Object.keys(contents).map((name) => `secrets/${name}`),
    );
    for (const [name, content] of Object.entries(contents))
      writeFileSync(join(folder, name), content);
    const mounted = Object.fromEntries(
      Object.entries(env).map(([name, path]) => [
        name,
        path.replace("/run/secrets/emberline", folder),
      ]),
    );
    const config = parseConfig({ ...readDockerfile().env, ...settings, ...mounted });
    rmSync(folder, { recursive: true });
    assert.equal(config.APP_ENV, "production");
    assert.equal(config.DATABASE_URL, contents["database-url"]);
  });

  it("names files that exist", () => {
    for (const file of [
      ...kustomization.resources,
      ...kustomization.configMapGenerator.flatMap(({ envs }) => envs),
    ])
      assert.ok(existsSync(shippedPath(`kubernetes/${file}`)), file);
  });
});
