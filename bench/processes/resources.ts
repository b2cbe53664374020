/** Stops what a benchmark has started. */

interface Resource {
  stop(): Promise<void>;
}

export type Keep = <R extends Resource>(starting: Promise<R>) => Promise<R>;

/** Runs `use`, then stops every kept resource in reverse order, also after an error. */
export async function withResources<T>(use: (keep: Keep) => Promise<T>): Promise<T> {
  const resources: Resource[] = [];
  try {
    return await use(async (starting) => {
      const resource = await starting;
      resources.push(resource);
      return resource;
    });
  } finally {
    for (const resource of resources.toReversed()) await resource.stop();
  }
}
