/** The plain manifests and the settings that the Helm chart sets, without helm. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { LIMITS } from "../../src/config/limits.js";
import type { Setting } from "../../src/config/setting.js";
import { settings } from "../../src/config/settings.js";
import { commandOf, manifestsOf, podsOf } from "./manifests.js";

const chart = "deploy/helm/offledger";
const manifests = manifestsOf(readFileSync("deploy/kubernetes/offledger.yaml", "utf8"));
const pods = [...podsOf(manifests)];

describe("the plain manifests", () => {
  test("have all parts, each once", () => {
    expect(
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual([
      "Deployment offledger-api",
      "Deployment offledger-mirror",
      "Job offledger-migrate",
      "NetworkPolicy offledger",
      "PodDisruptionBudget offledger-api",
      "PodDisruptionBudget offledger-mirror",
      "Service offledger",
      "Service offledger-operator",
    ]);
  });

  test.each(pods)("%s starts a command whose settings are valid", (_name, pod) => {
    const { args, env } = commandOf(pod);
    expect(readConfig(args, env)).toMatchObject({ ok: true, command: args[0], warnings: [] });
  });

  test.each(pods)(
    "%s has no service links, and mounts secrets as directories",
    (_name, { enableServiceLinks, containers, volumes = [] }) => {
      expect(enableServiceLinks).toBe(false);
      const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
      expect(mounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
      expect(mounts.filter(({ subPath }) => subPath !== undefined)).toEqual([]);
      for (const { value } of containers.flatMap(({ env }) => env).filter(({ name }) => name.endsWith("_FILE")))
        expect(mounts.map(({ mountPath }) => mountPath)).toContain(value.slice(0, value.lastIndexOf("/")));
    },
  );

  test.each(pods.filter(([name]) => name !== "offledger-migrate"))("%s is probed and ends in time", (_name, pod) => {
    const [container] = pod.containers;
    expect(container).toMatchObject({
      startupProbe: { httpGet: { path: "/livez", port: "operator" } },
      livenessProbe: { httpGet: { path: "/livez", port: "operator" } },
      readinessProbe: { httpGet: { path: "/readyz", port: "operator" } },
    });
    expect(container?.lifecycle).toBeUndefined();
    const drain = Number(commandOf(pod).env["OFFLEDGER_DRAIN_SECONDS"]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain + LIMITS.graceSeconds + 5);
  });
});

describe("the chart", () => {
  const templates = ["_helpers.tpl", "workloads.yaml", "migration.yaml", "tests/health.yaml"];
  const text = templates.map((name) => readFileSync(`${chart}/templates/${name}`, "utf8")).join("");
  const set = [...new Set([...text.matchAll(/name: (OFFLEDGER_\w+)/g)].map(([, name = ""]) => name))];

  const known = Object.values<Setting<unknown>>(settings).map(({ variable }) => variable);

  test("sets variables of settings only", () => {
    expect(set.length).toBeGreaterThan(10);
    expect(set.filter((name) => !known.includes(name))).toEqual([]);
  });

  // A new setting is added to `settings` of values.schema.json, or to the templates.
  test("takes every other variable among its settings, and no misspelt one", () => {
    const { properties } = JSON.parse(readFileSync(`${chart}/values.schema.json`, "utf8")) as {
      readonly properties: {
        readonly settings: { readonly properties: object; readonly additionalProperties: unknown };
      };
    };
    expect(Object.keys(properties.settings.properties).toSorted()).toEqual(
      known.filter((name) => !set.includes(name)).toSorted(),
    );
    expect(properties.settings.additionalProperties).toBe(false);
  });
});
