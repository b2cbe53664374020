/** Manifests of Kubernetes, as far as the tests look at them: kubeconform checks them by the published schemas. */
import { parseAllDocuments } from "yaml";

interface Pod {
  readonly enableServiceLinks?: boolean;
  readonly securityContext?: object;
  readonly terminationGracePeriodSeconds?: number;
  readonly volumes?: readonly { readonly name: string }[];
  readonly containers: readonly Container[];
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly lifecycle?: unknown;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Partial<Pod> & {
    readonly selector?: object;
    readonly template?: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: Pod;
    };
  };
  readonly data?: Readonly<Record<string, string>>;
}

export const manifestsOf = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Manifest;
  });

/** Pods by the name of what starts them; a pod by its own name. */
export const podsOf = (manifests: readonly Manifest[]): ReadonlyMap<string, Pod> =>
  new Map(
    manifests.flatMap(({ kind, metadata, spec }): [string, Pod][] => {
      const pod = kind === "Pod" ? (spec as Pod) : spec?.template?.spec;
      return pod === undefined ? [] : [[metadata.name, pod]];
    }),
  );

/** The command of a pod, and the variables of its only container. */
export function commandOf({ containers }: Pod): {
  readonly args: readonly string[];
  readonly env: Record<string, string>;
} {
  const [container] = containers;
  if (container === undefined || containers.length > 1) throw new Error("not one container");
  return { args: container.args, env: Object.fromEntries(container.env.map(({ name, value }) => [name, value])) };
}
