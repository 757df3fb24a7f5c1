import { Ajv2020 } from "ajv/dist/2020.js";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ReasonCode } from "../../src/classify/reason.ts";
import type {
  ArchiveEntry,
  ClassName,
  CloneEntry,
  DiskEntry,
  HeadEntry,
  LsCloneEntry,
  LsDocument,
  LsWorktreeEntry,
  PruneDocument,
  ReasonEntry,
  RestoreDocument,
  SkippedEntry,
  StrayRegistrationEntry,
  WorktreeEntry,
} from "../../src/report/documents.ts";
import { archive, clone, COMMIT, ls, lsClone, place, prune, reason, restore, stray, worktree } from "./samples.ts";

type Schema = { readonly [keyword: string]: unknown };

function schema(name: string): Schema {
  return JSON.parse(readFileSync(new URL(`../../src/report/schemas/${name}.json`, import.meta.url), "utf8")) as Schema;
}

/** Returns what the schema of a document finds wrong with one, after its way through JSON. */
function faults(name: string, document: unknown): string[] {
  const validate = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema(name));
  if (validate(JSON.parse(JSON.stringify(document)))) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Every schema of an object in a schema, with its way from the top. */
function objects(at: unknown, way = ""): [way: string, object: Schema][] {
  if (typeof at !== "object" || at === null) return [];
  const inner = Object.entries(at).flatMap(([key, value]) => objects(value, `${way}/${key}`));
  return "properties" in at && typeof at.properties === "object" ? [[way, at as Schema], ...inner] : inner;
}

const REASON = reason("unpushed", "1 commit is in no safe ref", { commits: [COMMIT], paths: ["a"] });
const PRUNE = prune([
  clone(
    [
      worktree(place("a1")),
      worktree(place("a2"), { reasons: [REASON], bytes: null, bytesAreFloor: true }),
      worktree(place("a3"), {
        class: "forgotten",
        head: null,
        registration: { state: "none", id: null, recordedPath: null, lockReason: null },
      }),
      worktree(place("a4"), {
        registration: { state: null, id: "a4", recordedPath: null, lockReason: null },
        head: { branch: null, commit: null },
        outcome: "failed",
        error: "EACCES",
      }),
    ],
    {
      skipped: [{ path: place("x"), code: "symlink", detail: "a link" }],
      registrationsWithoutDirectory: [
        stray("gone", { head: null, recordedPath: null }),
        stray("kept", { reasons: [REASON] }),
      ],
      metadata: { action: "held-back", heldBackBy: [place("a2")], dropped: ["a1"], error: "EROFS" },
    },
  ),
  clone([], { owner: null, repo: null, bare: null, error: "fatal: no" }),
]);
const DISK: DiskEntry = { bytes: 4096, isFloor: false, unreadable: 0 };
const LS = ls(
  [
    lsClone({
      disk: DISK,
      worktreesDisk: DISK,
      worktrees: [{ path: place("a1"), class: "held", bytes: null, bytesAreFloor: true }],
    }),
    lsClone({ owner: null, repo: null, branch: null, bare: null, error: "fatal: no" }),
  ],
  true,
);
const RESTORE = restore([archive("a1"), archive("a2", { branch: null, commit: null })], {
  name: "2026-01-30/ws/a1",
  to: "/home/me/back",
});

test.each([
  ["prune", PRUNE],
  ["prune", prune([])],
  ["ls", LS],
  ["ls", ls([])],
  ["restore", RESTORE],
  ["restore", restore([])],
])("the schema %s takes a document of its kind", (name, document) => {
  expect(faults(name, document)).toEqual([]);
});

test.each([
  ["prune", { ...PRUNE, more: 1 }, " must NOT have additional properties"],
  ["prune", { ...PRUNE, schemaVersion: 2 }, "/schemaVersion must be equal to constant"],
  [
    "prune",
    prune([clone([{ ...worktree(place("a1")), bytes: 1.5 }])]),
    "/clones/0/worktrees/0/bytes must be integer,null",
  ],
  [
    "prune",
    prune([clone([], { path: undefined as unknown as string })]),
    "/clones/0 must have required property 'path'",
  ],
  ["ls", { ...LS, command: "prune" }, "/command must be equal to constant"],
  ["restore", restore([archive("a1", { changedPaths: -1 })]), "/archives/0/changedPaths must be >= 0"],
])("the schema %s refuses a document that is not of its kind (%#)", (name, document, fault) => {
  expect(faults(name, document)).toContain(fault);
});

test.each(["prune", "ls", "restore"])(
  "the schema %s is closed, asks for every key, and describes every field",
  (name) => {
    for (const [way, { properties, required, additionalProperties }] of objects(schema(name))) {
      const fields = Object.entries(properties as Record<string, Schema>);
      expect([way, additionalProperties]).toEqual([way, false]);
      expect([way, required]).toEqual([way, fields.map(([key]) => key)]);
      const silent = fields.filter(([, field]) => !("description" in field) && !("$ref" in field)).map(([key]) => key);
      expect([way, silent]).toEqual([way, []]);
    }
  },
);

/** The keys of the documents, held against their types by the compiler: a changed document does not compile until it is changed here. */
const KEYS = {
  "prune ": {
    schemaVersion: true,
    command: true,
    mode: true,
    reposDir: true,
    clones: true,
    totals: true,
  } satisfies Keys<PruneDocument>,
  "prune /properties/totals": {
    worktrees: true,
    forgotten: true,
    prunable: true,
    locked: true,
    held: true,
    skipped: true,
    toRemove: true,
    toRemoveBytes: true,
    removed: true,
    freedBytes: true,
    withheld: true,
    failed: true,
  } satisfies Keys<PruneDocument["totals"]>,
  "prune /$defs/bare": { path: true, lastFetch: true } satisfies Keys<NonNullable<CloneEntry["bare"]>>,
  "prune /$defs/head": { branch: true, commit: true } satisfies Keys<HeadEntry>,
  "prune /$defs/reason": { code: true, detail: true, paths: true, commits: true } satisfies Keys<ReasonEntry>,
  "prune /$defs/registration": {
    state: true,
    id: true,
    recordedPath: true,
    lockReason: true,
  } satisfies Keys<WorktreeEntry["registration"]>,
  "prune /$defs/worktree": {
    path: true,
    class: true,
    registration: true,
    head: true,
    parent: true,
    decision: true,
    forced: true,
    reasons: true,
    removalRoot: true,
    bytes: true,
    bytesAreFloor: true,
    outcome: true,
    error: true,
  } satisfies Keys<WorktreeEntry>,
  "prune /$defs/skipped": { path: true, code: true, detail: true } satisfies Keys<SkippedEntry>,
  "prune /$defs/registrationWithoutDirectory": {
    id: true,
    recordedPath: true,
    head: true,
    decision: true,
    reasons: true,
    outcome: true,
  } satisfies Keys<StrayRegistrationEntry>,
  "prune /$defs/clone": {
    path: true,
    owner: true,
    repo: true,
    workspace: true,
    bare: true,
    error: true,
    worktrees: true,
    skipped: true,
    registrationsWithoutDirectory: true,
    metadata: true,
  } satisfies Keys<CloneEntry>,
  "prune /$defs/clone/properties/metadata": {
    action: true,
    heldBackBy: true,
    dropped: true,
    error: true,
  } satisfies Keys<CloneEntry["metadata"]>,
  "ls ": {
    schemaVersion: true,
    command: true,
    reposDir: true,
    clones: true,
    totals: true,
  } satisfies Keys<LsDocument>,
  "ls /properties/totals": {
    clones: true,
    worktrees: true,
    bytes: true,
    worktreesBytes: true,
  } satisfies Keys<LsDocument["totals"]>,
  "ls /$defs/bare": { path: true, lastFetch: true } satisfies Keys<NonNullable<LsCloneEntry["bare"]>>,
  "ls /$defs/disk": { bytes: true, isFloor: true, unreadable: true } satisfies Keys<DiskEntry>,
  "ls /$defs/worktree": { path: true, class: true, bytes: true, bytesAreFloor: true } satisfies Keys<LsWorktreeEntry>,
  "ls /$defs/clone": {
    path: true,
    owner: true,
    repo: true,
    workspace: true,
    branch: true,
    bare: true,
    worktreeCount: true,
    disk: true,
    worktreesDisk: true,
    worktrees: true,
    error: true,
  } satisfies Keys<LsCloneEntry>,
  "restore ": {
    schemaVersion: true,
    command: true,
    reposDir: true,
    archives: true,
    restored: true,
  } satisfies Keys<RestoreDocument>,
  "restore /$defs/archive": {
    name: true,
    ref: true,
    repository: true,
    createdAt: true,
    workspace: true,
    worktree: true,
    branch: true,
    commit: true,
    changedPaths: true,
  } satisfies Keys<ArchiveEntry>,
  "restore /properties/restored/anyOf/0": {
    name: true,
    to: true,
  } satisfies Keys<NonNullable<RestoreDocument["restored"]>>,
};
type Keys<T> = Record<keyof T, true>;

test("the schemas have the keys of the documents' types, all of them and no others", () => {
  const inSchemas = ["prune", "ls", "restore"].flatMap((name) =>
    objects(schema(name)).map(([way, { properties }]) => [
      `${name} ${way}`,
      Object.keys(properties as object).toSorted(),
    ]),
  );
  const inTypes = Object.entries(KEYS).map(([way, keys]) => [way, Object.keys(keys).toSorted()]);
  expect(Object.fromEntries(inSchemas)).toEqual(Object.fromEntries(inTypes));
});

const WORDS = {
  mode: { "dry-run": true, declined: true, acted: true } satisfies Words<PruneDocument["mode"]>,
  class: { forgotten: true, prunable: true, locked: true, held: true } satisfies Words<ClassName>,
  decision: { remove: true, keep: true } satisfies Words<WorktreeEntry["decision"]>,
  outcome: { planned: true, removed: true, withheld: true, kept: true, failed: true } satisfies Words<
    WorktreeEntry["outcome"]
  >,
  state: { none: true, prunable: true, locked: true, live: true } satisfies Words<
    NonNullable<WorktreeEntry["registration"]["state"]>
  >,
  skipped: {
    "other-repository": true,
    "not-a-worktree": true,
    symlink: true,
    "unreadable-gitfile": true,
  } satisfies Words<SkippedEntry["code"]>,
  dropDecision: { drop: true, keep: true } satisfies Words<StrayRegistrationEntry["decision"]>,
  dropOutcome: { planned: true, dropped: true, kept: true, failed: true } satisfies Words<
    StrayRegistrationEntry["outcome"]
  >,
  action: { none: true, pruned: true, "held-back": true } satisfies Words<CloneEntry["metadata"]["action"]>,
  reason: {
    locked: true,
    uncommitted: true,
    ignored: true,
    "in-progress": true,
    unpushed: true,
    "embedded-repository": true,
    "could-not-tell": true,
    "live-registration": true,
    "in-use": true,
    nested: true,
    "mount-point": true,
    "not-removable": true,
  } satisfies Words<ReasonCode>,
};
type Words<T extends string> = Record<T, true>;

test.each([
  ["mode", "prune", "properties/mode"],
  ["class", "prune", "$defs/worktree/properties/class"],
  ["class", "ls", "$defs/worktree/properties/class"],
  ["decision", "prune", "$defs/worktree/properties/decision"],
  ["outcome", "prune", "$defs/worktree/properties/outcome"],
  ["state", "prune", "$defs/registration/properties/state"],
  ["skipped", "prune", "$defs/skipped/properties/code"],
  ["dropDecision", "prune", "$defs/registrationWithoutDirectory/properties/decision"],
  ["dropOutcome", "prune", "$defs/registrationWithoutDirectory/properties/outcome"],
  ["action", "prune", "$defs/clone/properties/metadata/properties/action"],
  ["reason", "prune", "$defs/reason/properties/code"],
] as const)("the words of %s are the same in the types and in the schema %s", (words, name, way) => {
  let at: unknown = schema(name);
  for (const key of way.split("/")) at = (at as Schema)[key];
  const given = ((at as Schema)["enum"] as (string | null)[]).filter((word) => word !== null);
  expect(given.toSorted()).toEqual(Object.keys(WORDS[words]).toSorted());
});
