/** The package of a template: its id changes with every version, its name does not. */
export interface PackageVersion {
  readonly name: string;
  /** For example `0.6.0`. */
  readonly version: string;
}

/** Knows packages by id. */
export interface PackageCatalog {
  /**
   * The packages with the ids, by default all; without those that are not known. Undefined if the source does not tell
   * any: then others have to be used. Throws an Error if it cannot be asked now.
   */
  versions(ids?: Iterable<string>): Promise<ReadonlyMap<string, PackageVersion> | undefined>;
}
