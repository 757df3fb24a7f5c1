/** The bare mirror that sits beside the clones of one repository. */
export interface Bare {
  /** Absolute path of the bare git directory. */
  readonly path: string;
  /** When `FETCH_HEAD` was last written; null when the bare was never fetched into. */
  readonly lastFetch: Date | null;
}

/** A repository found below repos_dir: a directory that holds a `.git` directory. */
export interface Clone {
  /** Absolute path of the clone's own checkout. */
  readonly path: string;
  /** `<clone>/.git`. */
  readonly gitDir: string;
  /** The directory that holds the clone, its siblings, `.bare` and `.lock`. */
  readonly repositoryDir: string;
  /** Names by place below repos_dir: `<owner…>/<repo>/<workspace>`; null where the clone sits too high to have one. */
  readonly owner: string | null;
  readonly repo: string | null;
  readonly workspace: string;
  readonly bare: Bare | null;
}
