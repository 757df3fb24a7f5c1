/** What HEAD of a worktree says. `broken`: it says nothing that can be read as a commit. */
export type Head =
  | { readonly kind: "branch"; readonly ref: string; readonly commit: string }
  | { readonly kind: "detached"; readonly commit: string }
  | { readonly kind: "unborn"; readonly ref: string }
  | { readonly kind: "broken"; readonly words: string };

/** An admin directory (`.git/worktrees/<id>`) as far as it could be read without following a link. */
export type AdminRecord =
  | {
      readonly kind: "readable";
      readonly id: string;
      /** Absolute path of the admin directory. */
      readonly directory: string;
      /** The worktree's path as the admin directory's `gitdir` file records it, without the trailing `/.git`: text, never resolved. */
      readonly recordedPath: string;
      /** The text of `HEAD`, trimmed; null when there is no such file. */
      readonly headText: string | null;
      /** Present when a `locked` file is; its text, trimmed, or null when it is empty. */
      readonly lock: { readonly reason: string | null } | null;
    }
  | { readonly kind: "unreadable"; readonly id: string; readonly directory: string; readonly words: string };

/** A worktree's standing with git. `unreadable`: its admin directory is a link, or not made of small regular files. */
export type Registration =
  | { readonly state: "none" }
  | { readonly state: "prunable" | "live"; readonly admin: ReadableAdmin }
  | { readonly state: "locked"; readonly admin: ReadableAdmin; readonly lockReason: string | null }
  | { readonly state: "unreadable"; readonly id: string; readonly words: string };

export type ReadableAdmin = Extract<AdminRecord, { kind: "readable" }>;

/** A registration that some admin directory stands for: every kind but `none`. */
export type Registered = Exclude<Registration, { state: "none" }>;

/** Returns the admin directory's name of a registration, or null where there is none. */
export function registrationId(registration: Registration): string | null {
  switch (registration.state) {
    case "none":
      return null;
    case "unreadable":
      return registration.id;
    case "prunable":
    case "live":
    case "locked":
      return registration.admin.id;
  }
}

/** What tells one directory from another that takes its name: device and inode. */
export interface Identity {
  readonly device: number;
  readonly inode: number;
}

/** Whether two identities are those of one directory. */
export function isSame(a: Identity, b: Identity): boolean {
  return a.device === b.device && a.inode === b.inode;
}

/** A directory in a worktrees place, confirmed by its gitfile to be this clone's worktree. */
export interface Worktree {
  /** Its path relative to the clone, `.claude/worktrees/<name>[/.claude/worktrees/<name>…]`. */
  readonly place: string;
  /** The place of the worktree that it is nested in, or null. */
  readonly parent: string | null;
  /** Absolute path of its bytes: in the clone, or in quarantine while it is verified there. */
  readonly directory: string;
  readonly identity: Identity;
  /** The admin directory's name that its gitfile gives. */
  readonly gitfileId: string;
  readonly registration: Registration;
  /** Why the registration and the directory do not fit each other; null when they do. */
  readonly misfit: string | null;
}

export type SkippedCode = "other-repository" | "not-a-worktree" | "symlink" | "unreadable-gitfile";

/** An entry of a worktrees place that is no worktree of this clone: never probed, never removed, and what is above it stays. */
export interface Skipped {
  readonly place: string;
  readonly parent: string | null;
  readonly code: SkippedCode;
  readonly detail: string;
}
