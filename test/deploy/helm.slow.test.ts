/** The Helm chart: what it templates, by helm, and whether Kubernetes knows it, by kubeconform. Nothing is installed into a cluster. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { temporaryFile } from "../fixtures/files.js";
import { run } from "../fixtures/program.js";
import { commandOf, manifestsOf, podsOf } from "./manifests.js";

const tools = process.env["OFFLEDGER_TEST_KUBERNETES"] ?? "";
const isSkipped = !existsSync(join(tools, "schemas"));
if (isSkipped)
  console.warn(
    "the Helm chart is not tested: run `npx tsx scripts/kubernetes.ts FOLDER`, which needs Go and Python, and set OFFLEDGER_TEST_KUBERNETES=FOLDER",
  );

const chart = "deploy/helm/offledger";
const valuesFiles = readdirSync("deploy/helm/values").map((name) => `deploy/helm/values/${name}`);
const small = "deploy/helm/values/small.yaml";
const versions = isSkipped
  ? []
  : readdirSync(join(tools, "schemas")).flatMap((name) => /^v(1\..*)$/.exec(name)?.[1] ?? []);
const oldest = "1.25.0";

const helm = (...args: readonly string[]) =>
  run(join(tools, "helm"), [...args, "--kube-version", oldest], { cwd: process.cwd() });
const ofValues = (files: readonly string[]) => files.flatMap((file) => ["--values", file]);

async function template(release: string, files: readonly string[], ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await helm("template", release, chart, ...ofValues(files), ...args);
  expect(code, err).toBe(0);
  return out;
}

/** The small values, and others that override them. */
const templateWith = async (values: object): Promise<string> =>
  template("tokens", [small, await temporaryFile("values.json", JSON.stringify(values))]);

describe.skipIf(isSkipped)("the chart", () => {
  test.each(valuesFiles)("has no fault with %s", async (file) => {
    const { code, out } = await helm("lint", "--strict", chart, "--values", file);
    expect(code, out).toBe(0);
  });

  test.each(valuesFiles)("makes of %s what the oldest and the newest Kubernetes accept", async (file) => {
    const manifests = await temporaryFile("manifests.yaml", await template("tokens", [file]));
    expect(versions).toContain(oldest);
    expect(versions.length).toBe(2);
    for (const version of versions) {
      const schemas = ["{{.NormalizedKubernetesVersion}}", "custom"].flatMap((folder) => [
        "-schema-location",
        join(tools, "schemas", folder, "{{.ResourceKind}}{{.KindSuffix}}.json"),
      ]);
      const { code, out, err } = await run(
        join(tools, "kubeconform"),
        ["-strict", "-summary", "-kubernetes-version", version, ...schemas, manifests],
        { cwd: process.cwd() },
      );
      expect(code, out + err).toBe(0);
      expect(out).toMatch(/ [1-9]\d* resources .* Invalid: 0, Errors: 0, Skipped: 0/);
    }
  });

  test.each(valuesFiles)("sets valid settings with %s", async (file) => {
    const text = await template("tokens", [file]);
    const pods = [...podsOf(manifestsOf(text)).values()];
    const commands = pods.map((pod) => {
      const { args, env } = commandOf(pod);
      expect(readConfig(args, env)).toMatchObject({ ok: true, command: args[0], warnings: [] });
      expect(pod.enableServiceLinks).toBe(false);
      return args.join(" ");
    });
    expect(commands.toSorted((a, b) => a.localeCompare(b))).toEqual(["api", "health", "migrate", "mirror"]);
    expect(text).not.toMatch(/subPath|kind: Secret\b/);
  });

  // helm template offledger deploy/helm/offledger --values deploy/helm/values/small.yaml --kube-version 1.25.0 --skip-tests
  test("is what the plain manifests were made from", async () => {
    expect(await template("offledger", [small], "--skip-tests")).toBe(
      readFileSync("deploy/kubernetes/offledger.yaml", "utf8"),
    );
  });

  test.each([
    ["tokens", "other"],
    ["eu.tokens", "us.tokens"],
    ["offledger", "offledger-2"],
    // The longest names of releases.
    [`${"a".repeat(41)}-b-offledger`, `${"a".repeat(41)}-c-offledger`],
  ])("has no names, and selects no pods, of another release: %s, %s", async (...releases) => {
    const [names = [], others = []] = await Promise.all(
      releases.map(async (release) => {
        const manifests = manifestsOf(await template(release, ["deploy/helm/values/production.yaml"]));
        const selectors = manifests.flatMap(({ spec }) => spec?.selector ?? []).map((one) => JSON.stringify(one));
        expect(selectors.filter((selector) => !selector.includes(`"${release}"`))).toEqual([]);
        // As Services demand.
        expect(manifests.filter(({ metadata }) => !/^[a-z][a-z\d-]{0,62}$/.test(metadata.name))).toEqual([]);
        return manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      }),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(new Set([...names, ...others]).size).toBe(names.length + others.length);
  });

  test.each(["registry", "contexts", "instruments"])("restarts pods for another file of %s", async (name) => {
    const [before, after, again] = await Promise.all(
      ["a: 1\n", "a: 2\n", "a: 2\n"].map(async (text) => {
        const manifests = manifestsOf(await templateWith({ [name]: text }));
        expect(manifests.flatMap(({ kind, data }) => (kind === "ConfigMap" ? [data] : []))).toEqual([
          { [`${name}.yaml`]: text },
        ]);
        const annotations = manifests
          .filter(({ kind }) => kind === "Deployment")
          .map(({ spec }) => spec?.template?.metadata.annotations);
        expect(annotations[0]?.["checksum/files"]).toMatch(/^[0-9a-f]{64}$/);
        expect(annotations[1]).toEqual(annotations[0]);
        return annotations[0];
      }),
    );
    expect(after).toEqual(again);
    expect(after).not.toEqual(before);
  });

  test("passes on settings and limits as written", async () => {
    const text = await templateWith({
      settings: { OFFLEDGER_MAX_LEGS: 1_000_000, OFFLEDGER_ROOT_REGISTRAR: "a::1220" },
      api: { resources: { limits: { memory: "1.5Gi" } } },
      drainSeconds: 20,
      ipv6: true,
    });
    const pod = podsOf(manifestsOf(text)).get("tokens-offledger-api");
    if (pod === undefined) throw new Error("no replicas");
    const { args, env } = commandOf(pod);
    expect(readConfig(args, env)).toMatchObject({
      ok: true,
      config: { maxLegs: 1_000_000, drainSeconds: 20, host: "::", metricsPort: { host: "::", port: 9464 } },
    });
    expect(env).toMatchObject({
      OFFLEDGER_ROOT_REGISTRAR: "a::1220",
      NODE_OPTIONS: "--max-old-space-size=960",
    });
    expect(pod.terminationGracePeriodSeconds).toBe(30);
  });

  test("runs as a user of its own, or as the one that the platform chooses", async () => {
    const securityOf = async (values: object) => {
      const pods = [...podsOf(manifestsOf(await templateWith(values))).values()];
      expect(pods.length).toBe(4);
      for (const { securityContext } of pods) expect(securityContext).toEqual(pods[0]?.securityContext);
      return pods[0]?.securityContext;
    };
    const always = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
    const asUser = (id: number) => ({ ...always, runAsUser: id, runAsGroup: id, fsGroup: id });
    expect(await securityOf({})).toEqual(asUser(10_001));
    expect(await securityOf({ runAsUser: 1_000_680_000 })).toEqual(asUser(1_000_680_000));
    expect(await securityOf({ runAsUser: null })).toEqual(always);
  });

  const secret = { name: "a", key: "b" };
  test.each<[string, object]>([
    ["image/repository", { image: { repository: "" } }],
    ["image/digest", { image: { digest: "sha256:12" } }],
    ["ledger/parties", { ledger: { parties: [] } }],
    ["ledger/auth", { ledger: { auth: { tokenSecret: secret } } }],
    ["ledger/auth/oidc/secret/name", { ledger: { auth: { oidc: { secret: { name: "" } } } } }],
    ["database/passwordSecret/name", { database: { passwordSecret: { name: "" } } }],
    ["database", { database: { password: "secret" } }],
    ["'PORT'", { settings: { PORT: 1 } }],
    ["'OFFLEDGER_LEDGER_URL'", { settings: { OFFLEDGER_LEDGER_URL: "http://a" } }],
    ["api/resources/limits/memory", { api: { resources: { limits: { memory: "1024" } } } }],
    ["api/podDisruptionBudget", { api: { podDisruptionBudget: { minAvailable: 1 } } }],
    ["ingress/host", { ingress: { enabled: true } }],
    ["gateway", { gateway: { enabled: true, parentRefs: [{ name: "public" }] } }],
    ["drainSeconds", { drainSeconds: -1 }],
    ["replicas", { replicas: 2 }],
    // Misspelt, at every depth.
    ["'OFFLEDGER_LOGLEVEL'", { settings: { OFFLEDGER_LOGLEVEL: "debug" } }],
    ["'OTEL_EXPORTER_OTLP_ENDPONT'", { settings: { OTEL_EXPORTER_OTLP_ENDPONT: "http://a" } }],
    ["'request'", { api: { resources: { request: { cpu: 1 } } } }],
    ["'limit'", { migration: { resources: { limit: { cpu: 1 } } } }],
    ["'effects'", { mirror: { tolerations: [{ key: "a", effects: "NoSchedule" }] } }],
    ["nodeSelector", { api: { nodeSelector: { disk: true } } }],
    ["'namespaceselector'", { networkPolicy: { operatorFrom: [{ namespaceselector: {} }] } }],
    ["'section'", { gateway: { parentRefs: [{ name: "public", section: "https" }] } }],
    ["runAsUser", { runAsUser: "root" }],
    ["runAsUser", { runAsUser: 0 }],
  ])("refuses values: %s %j", async (path, values) => {
    const file = await temporaryFile("values.json", JSON.stringify(values));
    const { code, err } = await helm("template", "tokens", chart, ...ofValues([small, file]));
    expect(code).not.toBe(0);
    expect(err).toContain("don't meet the specifications of the schema");
    expect(err).toContain(path);
  });
});
